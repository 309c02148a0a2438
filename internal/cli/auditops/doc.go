// Package auditops has the commands of who operates the audit log: bootstrap, key, rotate,
// remove, erase and witness.
package auditops
