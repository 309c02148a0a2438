//go:build !unix

package signals

import "os"

// levelSignals toggle the log level; this system has no such signal.
var levelSignals []os.Signal
