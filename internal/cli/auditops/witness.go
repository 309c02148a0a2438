package auditops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"

	"github.com/hookrouter/hookrouter/internal/auditlog/witness"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// WitnessCmd is `hookctl audit witness`.
type WitnessCmd struct {
	WitnessKey string   `required:"" placeholder:"FILE" help:"The witness's own private key; audit key new makes one."`
	Key        []string `required:"" sep:"none" placeholder:"KEY|FILE" help:"A router's verifier key, or a file with some. Repeatable: keep the old ones when a router gets a new one."`
	State      string   `required:"" placeholder:"FILE" help:"State file of the witness: on its own disk, never shared, never restored from a backup."`
	Once       bool     `help:"Process new records, co-sign them and exit: for cron. Continues from the state."`

	Grace time.Duration `kong:"-"` // see [witness.Options]
}

// Run watches until ctx ends.
func (c *WitnessCmd) Run(ctx context.Context, e *cli.Env) error {
	key, err := signingKey("--witness-key", c.WitnessKey)
	if err != nil {
		return err
	}
	routers, err := verifierkeys.Read("--key", c.Key)
	if err != nil {
		return err
	}
	b, err := e.Connect()
	if err != nil {
		return err
	}
	w, err := witness.New(b, witness.Options{
		Signer: key.Signer, Verifier: key.Verifier, Routers: verifierkeys.Verifiers(routers), State: c.State, Grace: c.Grace, Tell: func(event witness.Event) { showWitness(e, event) },
	})
	if err == nil {
		fmt.Fprintf(e.Stderr, "witness %s of %s; who verifies needs --witness %s\n", term.Printable(key.Verifier.Name()), b.Of("audit", ">"), key.Public)
		run := w.Run
		if c.Once {
			run = w.Once
		}
		err = run(ctx)
	}
	if refusal, ok := errors.AsType[*witness.Refusal](err); ok {
		refused(e, refusal)
		return nil
	}
	if err == nil {
		return cli.StopCause(ctx)
	}
	return fmt.Errorf("witness: %w", err)
}

// showWitness prints an event on one line.
func showWitness(e *cli.Env, event witness.Event) {
	if e.Out.Line(event) {
		return
	}
	if event.Kind == "refused" {
		return // printed at the end
	}
	color := term.Plain
	switch event.Kind {
	case "signed", "started", "segment":
		color = term.Green
	case "warning", "waiting":
		color = term.Yellow
	}
	e.Out.Print("%s %s %s\n", e.Out.Paint(term.Dim, event.Time.Local().Format("15:04:05")), e.Out.Paint(color, event.Kind), term.Printable(event.Text))
}

// refused ends the command with the exit code of a log that has two histories.
func refused(e *cli.Env, r *witness.Refusal) {
	e.Exit = audit.Diverged.ExitCode()
	fmt.Fprintf(e.Stderr, `
%s
Nothing is signed any more. The proof is in %s: what this witness signed, and what the log shows now.
Keep that file and the state, copy the log's streams before anybody changes them, and compare with other witnesses.
The witness starts again only when that file was moved away.
`, term.Printable(r.Error()), term.Printable(r.File))
}
