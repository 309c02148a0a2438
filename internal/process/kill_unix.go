//go:build unix

package process

import (
	"errors"
	"os"
	"syscall"
)

// killGroup kills a process group, whose id is the one of the program that leads it.
// That is not used again while any of them lives.
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

// supported says whether programs can be run here.
func supported() error { return nil }
