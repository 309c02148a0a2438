package cli

import (
	"context"
	"io"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Env is the environment of a command.
type Env struct {
	Process
	*Connection
	Out       *term.Printer
	Cancel    context.CancelCauseFunc // ends the command with a cause
	Status    func(text string)       // receives notes about the connection; nil means stderr. Set before connecting
	Role      string                  // the identity to connect as if no credentials are given; empty means admin. Set before connecting
	Forbidden string                  // what to do if NATS denies a permission; empty means the default advice. Set before connecting
	Exit      int                     // exit code of the process if the command succeeds

	bus *natsx.Conn // nil if not connected
}

// Renew says how to update older credentials to the current rights of their role.
const Renew = "`hookctl auth rotate NAME` and `hookctl auth push` renew an admin's older credentials"

// CheckSpelling warns about an event name or pattern that is probably a misspelt standard event. It
// is not an error, because applications may have their own events.
func (e *Env) CheckSpelling(pattern string) {
	if err := kind.CheckEventSpelling(pattern); err != nil {
		term.Say(e.Stderr, "hookctl: "+term.Clean(err.Error()))
	}
}

// complain prints why a command failed, and returns the exit code.
func complain(stderr io.Writer, err error) int {
	term.Say(stderr, "hookctl: "+term.Clean(err.Error()))
	return exitOf(err)
}
