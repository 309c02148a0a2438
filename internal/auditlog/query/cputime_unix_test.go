//go:build unix

package query_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is that of this process so far, the NATS server in it included.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
