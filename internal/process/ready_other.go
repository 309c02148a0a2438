//go:build !unix

package process

import "os"

// readReady reads nothing: no program runs here.
func readReady(*os.File, []byte) int { return 0 }
