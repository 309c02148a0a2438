package server_test

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
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

// No memory backs the floor, also where the heap has grown and shrunk before. A process of
// its own tries that: where the heap ends depends on what ran before.
func TestTheFloorTakesNoMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	const alone = "HOOKROUTER_TEST_FLOOR"
	if os.Getenv(alone) == "" {
		for mib := 1; mib <= 16; mib *= 2 {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
			c.Env = append(os.Environ(), alone+"="+strconv.Itoa(mib), "GOGC=")
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("after %d MiB of garbage: %v %s", mib, err, out)
			}
		}
		return
	}
	mib, _ := strconv.Atoi(os.Getenv(alone))
	runtime.KeepAlive(bytes.Repeat([]byte{1}, mib<<20))
	runtime.GC()
	before := resident(t)
	server.TuneGC()
	if grown := resident(t) - before; grown > 32<<10 {
		t.Errorf("the floor takes %d KiB", grown)
	}
}

// resident is how much memory the process has, in KiB.
func resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kib
}
