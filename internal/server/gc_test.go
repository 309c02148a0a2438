package server_test

import (
	"runtime/debug"
	"testing"

	"github.com/hookrouter/hookrouter/internal/server"
)

// The collector's floor takes no memory, so it takes nothing of a memory limit either.
func TestAMemoryLimitDoesNotCountTheFloor(t *testing.T) {
	const limit, floor = 460 << 20, 192 << 20
	t.Setenv("GOGC", "")
	before, percent := debug.SetMemoryLimit(limit), debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(percent)
	})
	server.TuneGC()
	if got := debug.SetMemoryLimit(-1); got != limit+floor {
		t.Errorf("the limit is %d MiB, want %d", got>>20, (limit+floor)>>20)
	}

	t.Setenv("GOGC", "100")
	server.TuneGC()
	if got := debug.SetMemoryLimit(-1); got != limit+floor {
		t.Errorf("GOGC is set, and the limit is changed to %d MiB", got>>20)
	}
}
