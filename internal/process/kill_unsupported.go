//go:build !unix

package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// supported returns an error: without process groups, a program that exceeds its deadline can't be
// killed with its children.
func supported() error {
	return fmt.Errorf("%w: running programs needs Linux, macOS or another Unix: on %s their child processes could not be killed",
		errors.ErrUnsupported, runtime.GOOS)
}

func attributes() *syscall.SysProcAttr { return nil }

func killGroup(int) error { return errors.ErrUnsupported }

func signalGroup(int, os.Signal) error { return errors.ErrUnsupported }

func killMarked(string) {}
