//go:build !unix

package main

import (
	"errors"
	"fmt"
	"time"
)

// used is an error: the bench knows CPU time from getrusage only.
func used() (time.Duration, error) {
	return 0, fmt.Errorf("read the CPU time of this process: %w on this system", errors.ErrUnsupported)
}
