//go:build unix

package identity

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// checkOwner refuses a directory of another user, who knows its keys or can replace them. Root may use
// any directory.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, _, known := ownerOf(info)
	if me := os.Geteuid(); !known || owner == me || owner == 0 || me == 0 {
		return nil
	}
	return fmt.Errorf("%s belongs to another user, with the id %d: use a directory of your own, or run it as that user", dir, owner)
}

// giveToOwner gives a file that root wrote to the owner of its directory, since a router that runs
// as that user must read it. The owner may have replaced the file by a link: only a regular file
// without other hard links changes its owner.
func giveToOwner(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	owner, group, known := ownerOf(dir)
	if !known || owner == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.Mode().IsRegular() || stat.Nlink != 1 {
		return fmt.Errorf("%s is a link or not a regular file: remove it", path)
	}
	return f.Chown(owner, group)
}

func ownerOf(info fs.FileInfo) (owner, group int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}
