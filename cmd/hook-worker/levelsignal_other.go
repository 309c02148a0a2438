//go:build !unix

package main

import "os"

// levelSignals switch the log level; this system has no such signal.
var levelSignals []os.Signal
