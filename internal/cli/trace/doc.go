// Package trace implements `hookctl trace`, which shows a chain as a waterfall, from Jaeger or from
// the audit log.
package trace
