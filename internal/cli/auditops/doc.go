// Package auditops has the commands of operators of the audit log: bootstrap, key, rotate,
// remove, erase and witness.
package auditops
