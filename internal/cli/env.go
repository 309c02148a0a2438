package cli

import (
	"context"
	"io"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Env is what commands run in.
type Env struct {
	Process
	*Connection
	Out       *term.Printer
	Cancel    context.CancelCauseFunc // ends the command with a reason
	Status    func(text string)       // is called when the connection changes; nil if stderr is. Set before connect
	Role      string                  // the identity to connect as, where no credentials are given; empty means admin. Set before connect
	Forbidden string                  // what to do if NATS does not permit something; empty means ask for it. Set before connect
	Exit      int                     // exit code of the process unless there is an error

	bus *natsx.Conn // nil: not connected
}

// Renew says how older credentials get the rights that their role has now.
const Renew = "`hookctl auth rotate NAME` and `hookctl auth push` renew an admin's older credentials"

// CheckSpelling warns of the name or the pattern of an event that is probably a misspelt
// standard event. Applications may have events of their own, so it is not an error.
func (e *Env) CheckSpelling(pattern string) {
	if err := kind.CheckEventSpelling(pattern); err != nil {
		term.Say(e.Stderr, "hookctl: "+term.Clean(err.Error()))
	}
}

// Complain writes why a command failed, and returns the exit code.
func Complain(stderr io.Writer, err error) int {
	term.Say(stderr, "hookctl: "+term.Clean(err.Error()))
	return exitOf(err)
}
