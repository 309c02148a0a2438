//go:build !unix

package signals

import "os"

// levelSignals toggle the level of the log; this system has no such signal.
var levelSignals []os.Signal
