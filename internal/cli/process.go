package cli

import (
	"io"
	"os/user"
)

// Process is what a command sees of the process it runs in. What happens to the
// connection is written to stderr beside the command, so stderr is safe for concurrent
// use, as that of a process is.
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

// OSUser is who runs this process, as far as the system knows.
func OSUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
