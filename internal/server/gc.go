package server

import (
	"math"
	"os"
	"runtime/debug"
)

// floor is a part of the heap that is counted and never touched, so that no memory
// stands behind it: the collector waits until as much was left behind, however
// little lives.
var floor []byte //nolint:unused // it is held and never read

// floorSize is the size of the floor, in bytes.
const floorSize = 192 << 20

// gcPercent is how much may be left behind, in percent of what lives and the floor.
const gcPercent = 16

// TuneGC sets the garbage collector of a process that is a router, unless GOGC
// does. A router holds a few megabytes and leaves as much behind with every few
// hundred events: by default it would collect dozens of times a second, for an
// eighth of its CPU time. The floor alone lets it leave 31 MiB behind. Where much lives,
// as with thousands of open approval requests, a sixth is added, which keeps
// the process small. The memory limit, where GOMEMLIMIT sets one, does not count the floor.
func TuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(gcPercent)
	if limit := debug.SetMemoryLimit(-1); limit <= math.MaxInt64-floorSize {
		debug.SetMemoryLimit(limit + floorSize)
	}
	floor = make([]byte, floorSize)
}
