package cli

import (
	"io"
	"os/user"
)

// Process is what a command sees of the process it runs in. Stderr must be safe for
// concurrent use: events of the connection are written while the command runs.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Terminal       bool // whether stdout is one
}

// Colored reports whether the output is for a terminal that shows colors.
func (p Process) Colored() bool {
	return p.Terminal && p.Getenv("NO_COLOR") == "" && p.Getenv("TERM") != "dumb"
}

// OSUser is the user who runs this process; empty if unknown.
func OSUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
