package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/workerfile"
)

// told prints the errors and warnings in the policy with their lines, and returns an error with the
// number of errors. It returns an error without lines unchanged.
func (u up) told(stderr io.Writer, err error) error {
	tell(stderr, "warning: ", workerfile.Warnings(err))
	all := workerfile.Errors(err)
	if len(all) == 0 {
		return err
	}
	tell(stderr, "", all)
	return fmt.Errorf("%s: %s", u.Policy, term.Plural(len(all), "error"))
}

// warn reports the warnings of a policy: as text on a terminal, otherwise in the log.
func (u up) warn(stderr io.Writer, warnings []*workerfile.Error) {
	if telemetry.OnTerminal(stderr) {
		tell(stderr, "warning: ", warnings)
		return
	}
	log := slog.New(telemetry.LogLines(stderr, u.Router.LogLevel))
	for _, warning := range warnings {
		log.Warn("worker file has a warning", "warning", warning)
	}
}

// tell prints errors or warnings of a policy with their lines.
func tell(stderr io.Writer, before string, all []*workerfile.Error) {
	for _, e := range all {
		term.Say(stderr, before+e.Error())
		fmt.Fprint(stderr, e.Snippet())
	}
}

// inUse rewrites the error that an address or a directory is in use. It omits the advice to join
// the other server, since up always starts its own.
func (u up) inUse(err error) error {
	taken, ok := errors.AsType[*embedded.InUseError](err)
	if !ok {
		return err
	}
	if u.Policy == "" {
		return fmt.Errorf("%s, or %s", taken.Problem, taken.Choose)
	}
	return fmt.Errorf("%s, or %s; hook-worker --config %s serves the policy on the router that runs", taken.Problem, taken.Choose, u.Policy)
}
