package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/auditlog/witness"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

type witnessCmd struct {
	WitnessKey string   `required:"" placeholder:"FILE" help:"The witness's own private key; audit key new makes one."`
	Key        []string `required:"" sep:"none" placeholder:"KEY|FILE" help:"A router's verifier key, or a file with some. Repeatable: keep the old ones when a router gets a new one."`
	State      string   `required:"" placeholder:"FILE" help:"What the witness remembers: on its own disk, never shared and never set back."`
	Once       bool     `help:"Go through what is new, sign it and end: for cron. It goes on from the state."`
}

// Run watches until ctx ends.
func (c *witnessCmd) Run(ctx context.Context, e *env) error {
	key, err := signingKey("--witness-key", c.WitnessKey)
	if err != nil {
		return err
	}
	routers, err := readKeys("--key", c.Key)
	if err != nil {
		return err
	}
	b, err := e.connect()
	if err != nil {
		return err
	}
	defer b.Close()
	w, err := witness.New(b, witness.Options{
		Signer: key.Signer, Verifier: key.Verifier, Routers: verifiers(routers), State: c.State, Tell: e.showWitness,
	})
	if err == nil {
		fmt.Fprintf(e.stderr, "witness %s of %s; who verifies needs --witness %s\n", printable(key.Verifier.Name()), b.Of("audit", ">"), key.Public)
		run := w.Run
		if c.Once {
			run = w.Once
		}
		err = run(ctx)
	}
	if refusal, ok := errors.AsType[*witness.Refusal](err); ok {
		e.refused(refusal)
		return nil
	}
	if err == nil {
		return ended(ctx)
	}
	return fmt.Errorf("witness: %w", err)
}

// showWitness shows what happens: a line each.
func (e *env) showWitness(event witness.Event) {
	if e.out.json {
		e.out.line(event)
		return
	}
	if event.Kind == "refused" {
		return // said at the end
	}
	color := plain
	switch event.Kind {
	case "signed", "started", "segment":
		color = green
	case "warning", "waiting":
		color = yellow
	}
	e.out.print("%s %s %s\n", e.out.paint(dim, event.Time.Local().Format("15:04:05")), e.out.paint(color, event.Kind), printable(event.Text))
}

// refused ends the command with the exit code of a log that has two histories.
func (e *env) refused(r *witness.Refusal) {
	e.exit = audit.Diverged.ExitCode()
	fmt.Fprintf(e.stderr, `
%s
Nothing is signed any more. The proof is in %s: what this witness signed, and what the log shows now.
Keep that file and the state, copy the log's streams before anybody changes them, and compare with other witnesses.
The witness starts again only when that file was moved away.
`, printable(r.Error()), printable(r.File))
}
