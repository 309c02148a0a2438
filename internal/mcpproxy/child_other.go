//go:build !unix

package mcpproxy

import (
	"os"
	"syscall"
)

// attributes are empty: there are no process groups here.
func attributes() *syscall.SysProcAttr { return nil }

// signalGroup kills the server.
func signalGroup(p *os.Process, _ os.Signal) error { return p.Kill() }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
