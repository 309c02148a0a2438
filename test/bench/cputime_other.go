//go:build !unix

package main

import (
	"errors"
	"fmt"
	"time"
)

// used returns an error: the CPU time is supported only with getrusage.
func used() (time.Duration, error) {
	return 0, fmt.Errorf("read the CPU time of this process: %w on this system", errors.ErrUnsupported)
}
