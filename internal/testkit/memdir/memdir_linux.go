package memdir

import (
	"os"
	"syscall"
)

const (
	shm   = "/dev/shm"
	tmpfs = 0x01021994 // the type of a file system in memory
	// enough is the free memory in bytes below which tests use the disk: containers
	// often have 64 MB.
	enough = 2 << 30
)

// Parent is the directory in which to create temporary directories: TMPDIR where it is
// set, else a file system in memory where the machine has one with room, else os.TempDir.
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
