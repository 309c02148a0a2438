package testkit

import (
	"os"
	"runtime/debug"
)

// A test process runs for seconds with a small heap. With the default GOGC it would spend a fifth
// of its CPU time on garbage collection. Larger tiers keep the default, since they may need much
// memory.
func init() {
	const percent = 400
	if t, known := tier(); known && t == Smoke && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
