package testkit

import (
	"os"
	"runtime/debug"
)

// A test process lives for seconds, and its heap is small: by default it would spend a fifth of
// its CPU time on garbage. Larger tiers keep the default, since they may fill the memory.
func init() {
	const percent = 400
	if t, known := tier(); known && t == Smoke && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
