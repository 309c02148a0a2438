//go:build !linux

package memdir

import "os"

// Parent returns the directory for temporary directories: os.TempDir.
func Parent() string { return os.TempDir() }
