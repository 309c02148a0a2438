//go:build unix

package procs

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time of this process so far; ok is false where the system does not tell.
func cpuTime() (used time.Duration, ok bool) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err == nil
}
