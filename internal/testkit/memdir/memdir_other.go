//go:build !linux

package memdir

import "os"

// Parent is the directory in which to create temporary directories: os.TempDir here.
func Parent() string { return os.TempDir() }
