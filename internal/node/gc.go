package node

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much a router's heap may grow before it is collected, in
// percent of what lives.
const gcPercent = 400

// TuneGC sets the garbage collector of a process that is a router, unless GOGC
// does. A router holds a few megabytes and leaves as much behind with every few
// hundred events: by default it would collect dozens of times a second, for an
// eighth of its CPU time.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
