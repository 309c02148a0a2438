// Package trace has the command that shows a chain as a waterfall, from Jaeger or from the
// audit log.
package trace
