//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// killGroup kills a process group, whose id is the process id of its leader. The id is not reused
// while the group has a process.
func killGroup(pid int) error { return signalGroup(pid, syscall.SIGKILL) }

// signalGroup sends a signal to a process group.
func signalGroup(pid int, sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return errors.ErrUnsupported
	}
	err := syscall.Kill(-pid, number)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// supported returns an error if programs can't run on this system.
func supported() error { return nil }
