//go:build unix

package main

import (
	"fmt"
	"syscall"
	"time"
)

// used returns the CPU time of this process so far.
func used() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("read the CPU time of this process: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
