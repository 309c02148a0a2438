//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// killGroup kills a process group, whose id is the one of the program that leads it.
// That is not used again while any of them lives.
func killGroup(pid int) error {
	err := syscall.Kill(-pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// supported says whether programs can be run here.
func supported() error { return nil }
