//go:build unix

package main

import (
	"os"
	"syscall"
)

// levelSignals switch the log level.
var levelSignals = []os.Signal{syscall.SIGUSR1}
