package server

import (
	"os"
	"runtime/debug"
)

// floor is a part of the heap that is counted and never touched, so that no memory
// stands behind it: the collector waits until as much was left behind, however
// little lives.
var floor []byte //nolint:unused // it is held and never read

// floorSize is the size of the floor, in bytes.
const floorSize = 32 << 20

// TuneGC sets the garbage collector of a process that is a router, unless GOGC
// does. A router holds a few megabytes and leaves as much behind with every few
// hundred events: by default it would collect dozens of times a second, for an
// eighth of its CPU time. Where much lives, as with thousands of open approval requests,
// the collector works as Go has it, and the heap is at most twice what lives.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
		floor = make([]byte, floorSize)
	}
}
