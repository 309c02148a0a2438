//go:build !unix

package mcpproxy

import (
	"os"
	"syscall"
)

// attributes returns nil: process groups are not supported.
func attributes() *syscall.SysProcAttr { return nil }

// signalGroup kills the server, whatever the signal.
func signalGroup(p *os.Process, _ os.Signal) error { return p.Kill() }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
