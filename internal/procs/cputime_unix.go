//go:build unix

package procs

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time of this process so far; ok is false if the system does not report
// it.
func cpuTime() (used time.Duration, ok bool) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err == nil
}
