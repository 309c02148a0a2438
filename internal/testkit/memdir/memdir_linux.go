package memdir

import (
	"os"
	"syscall"
)

const (
	shm   = "/dev/shm"
	tmpfs = 0x01021994 // the type of a file system in memory
	// enough is the free space, in bytes, that shm must have: in containers it often has only 64 MB.
	enough = 2 << 30
)

// Parent returns the directory for temporary directories: TMPDIR if it is set, otherwise a file
// system in memory if there is one with enough space, otherwise os.TempDir.
func Parent() string {
	if dir := os.Getenv("TMPDIR"); dir != "" {
		return dir
	}
	var s syscall.Statfs_t
	if syscall.Statfs(shm, &s) != nil || s.Type != tmpfs || s.Bavail*uint64(s.Bsize) < enough || syscall.Access(shm, 7) != nil {
		return os.TempDir()
	}
	return shm
}
