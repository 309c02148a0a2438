//go:build !unix

package agents

import "io/fs"

// giveTo does nothing on this system.
func giveTo(string, fs.FileInfo) error { return nil }
