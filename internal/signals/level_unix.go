//go:build unix

package signals

import (
	"os"
	"syscall"
)

// levelSignals toggle the level of the log.
var levelSignals = []os.Signal{syscall.SIGUSR1}
