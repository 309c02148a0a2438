//go:build !unix

package procs

import "time"

// cpuTime is not supported on this system.
func cpuTime() (used time.Duration, ok bool) { return 0, false }
