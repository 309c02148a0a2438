package cli

import (
	"io"
	"os/user"
)

// Process is a command's view of its process. Stderr must be safe for concurrent use, because
// connection events are written while the command runs.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Terminal       bool // whether stdout is a terminal
}

// Colored reports whether the output is a terminal that shows colors.
func (p Process) Colored() bool {
	return p.Terminal && p.Getenv("NO_COLOR") == "" && p.Getenv("TERM") != "dumb"
}

// OSUser returns the user who runs this process, or "" if unknown.
func OSUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
