//go:build !unix

package procs

import "time"

// cpuTime is not known here.
func cpuTime() (used time.Duration, ok bool) { return 0, false }
