package server

import (
	"math"
	"os"
	"runtime/debug"
)

// floor is counted as live heap and never touched, so that no memory backs it: the collector
// waits until as much garbage exists, however small the live heap is.
var floor [48][]byte

// floorSize is the size of the floor, in bytes. It is allocated in parts, since the runtime
// writes zeros to the whole of an allocation if a byte of its memory was ever used.
const (
	floorSize = 192 << 20
	floorPart = floorSize / len(floor)
)

// gcPercent is the garbage that may accumulate, in percent of the live heap and the floor.
const gcPercent = 16

// TuneGC sets the garbage collector of a router process, unless GOGC does. A router's live heap
// is a few megabytes, and a few hundred events allocate as much: by default it would collect
// dozens of times a second and spend an eighth of its CPU time. The floor alone allows 31 MiB of
// garbage. A larger live heap, as with thousands of open approval requests, adds a sixth of
// itself, which keeps the process small. The memory limit of GOMEMLIMIT does not count the
// floor.
func TuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(gcPercent)
	if limit := debug.SetMemoryLimit(-1); limit <= math.MaxInt64-floorSize {
		debug.SetMemoryLimit(limit + floorSize)
	}
	for i := range floor {
		if floor[i] == nil {
			floor[i] = make([]byte, floorPart)
		}
	}
}
