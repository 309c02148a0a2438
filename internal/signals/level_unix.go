//go:build unix

package signals

import (
	"os"
	"syscall"
)

// levelSignals toggle the log level.
var levelSignals = []os.Signal{syscall.SIGUSR1}
