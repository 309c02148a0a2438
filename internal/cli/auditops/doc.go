// Package auditops implements the commands for operators of the audit log: bootstrap, key, rotate,
// remove, erase and witness.
package auditops
