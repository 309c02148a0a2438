package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// VerifyCmd is `hookctl audit verify`.
type VerifyCmd struct {
	Files []string `arg:"" optional:"" name:"file" help:"Exports, the segments of a log in their order; - for the standard input. None: the running log."`
	keyFlags
	Head  []string `sep:"none" placeholder:"FILE" help:"A signed checkpoint from another source, such as a witness. Repeatable."`
	Pin   string   `placeholder:"FILE" help:"File that remembers the last verified head; default: by the log's name, below the user's state directory."`
	NoPin bool     `help:"Neither use nor keep a pin."`

	Require string `enum:",any,pinned,witnessed" default:"" placeholder:"any|pinned|witnessed" help:"The verdict that exits with 0: any (nothing was changed), pinned (it continues from a pin) or witnessed (a witness signed it). Anything less exits with the code of its verdict."`

	Wait time.Duration `default:"5s" placeholder:"DURATION" help:"How long to wait for a checkpoint over the last message of the running log; default 5s."`

	RemovedBefore int `placeholder:"N" help:"The segments before this number were removed, and none from it on. Default: no pinned segment may be missing."`
}

// Help lists the exit codes.
func (VerifyCmd) Help() string {
	return `The exit code says the verdict:

  0   OK-WITNESSED: nothing was changed, and a witness has signed the head
  10  OK-PINNED: nothing was changed, and the log goes on from a head that
      was seen before
  20  OK-UNANCHORED: nothing was changed, as far as can be seen without a
      pin or a witness
  30  DIVERGED: there are two histories
  40  INVALID: records, or lines, are not what was signed
  50  INCOMPLETE: the beginning, a segment, or the end is missing
  60  UNKNOWN-FORMAT: a newer hookctl is needed

With --require any, pinned or witnessed those that are at least that exit with 0.

The head of what is OK is remembered, for each log by its name and its key, and
what is verified later must go on from it.`
}

// Run verifies files, or the running log.
func (c *VerifyCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.NoPin && c.Pin != "" {
		return errors.New("--pin and --no-pin exclude each other")
	}
	if c.RemovedBefore < 0 {
		return errors.New("--removed-before can't be negative")
	}
	v := &verification{cmd: c, env: e}
	run := v.files
	if len(c.Files) == 0 {
		run = v.live
	}
	if err := run(ctx); err != nil {
		return err
	}
	verdict := v.verdict()
	if err := v.keepPins(); err != nil {
		return err
	}
	v.show(verdict)
	e.Exit = verdict.ExitCode()
	if c.enough(verdict) {
		e.Exit = cli.ExitOK
	}
	return nil
}

// enough reports whether a verdict meets --require.
func (c *VerifyCmd) enough(v audit.Verdict) bool {
	switch c.Require {
	case "any":
		return v.OK()
	case "pinned":
		return v == audit.OKPinned || v == audit.OKWitnessed
	}
	return v == audit.OKWitnessed
}

// verification is one run of verify.
type verification struct {
	cmd     *VerifyCmd
	env     *cli.Env
	trust   trusted
	onTrust bool // the keys were trusted on first use
	parts   []*part
	ask     func() ([]verifierkeys.Key, error) // asks the running routers for their keys; nil for files
	whose   []verifierkeys.Key                 // the keys that distinguish the log from others of its name; nil if there are none
	from    string                             // the address of the log's server; empty for files
	at      []string                           // all addresses of the log's servers
	signed  int                                // number of a segment after the last existing one for which the log has checkpoints; 0 if none
	gone    []string                           // what is unproven about removed segments, or contradicts --removed-before
}

// files verifies exports.
func (v *verification) files(ctx context.Context) error {
	var closers []func()
	defer func() {
		for _, closeFile := range closers {
			closeFile()
		}
	}()
	for _, name := range v.cmd.Files {
		p, closeFile, err := openPart(name, v.env.Stdin)
		if err != nil {
			return err
		}
		closers = append(closers, closeFile)
		v.parts = append(v.parts, p)
	}
	if err := v.prepare(); err != nil {
		return err
	}
	readable := false
	for _, p := range v.parts {
		readable = readable || !p.headless()
	}
	if len(v.trust.routers) == 0 && readable {
		return errNoKey
	}
	var before *part
	for _, p := range v.parts {
		if p.follows(before) && before.report.Verdict.OK() {
			p.previous, p.linked = before.report.Head.Digest(), true
		}
		bar := newProgress(v.env, "verify "+p.what, 0, p.size, term.Size)
		err := p.verify(ctx, v.trust, bar.at)
		bar.end()
		if err != nil {
			return err
		}
		before = p
	}
	return v.absent()
}

// prepare reads pins, keys and heads, and assigns them to the parts.
func (v *verification) prepare() error {
	var pins []*pinFile
	if err := v.identify(); err != nil {
		return err
	}
	for i, p := range v.parts {
		if err := v.findPin(p, i == len(v.parts)-1); err != nil {
			return err
		}
		pins = append(pins, p.pin)
	}
	var err error
	if v.trust, err = v.cmd.trust(pins); err != nil {
		return err
	}
	if len(v.trust.routers) > 0 {
		if err := v.trust.keys().Check(); err != nil {
			return err
		}
	}
	for _, name := range v.cmd.Head {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read --head: %w", err)
		}
		of := v.parts[len(v.parts)-1] // the last part reports what is wrong with it
		for _, p := range v.parts {
			if query.ParseNote(text).Origin == p.header.Origin {
				of = p
			}
		}
		of.heads = append(of.heads, text)
	}
	return nil
}

// findPin finds the pin of a part. A pin given with --pin belongs to the log that it names; a new
// one belongs to the last part.
func (v *verification) findPin(p *part, last bool) (err error) {
	if v.cmd.NoPin || p.headless() {
		return nil
	}
	if v.cmd.Pin == "" {
		return v.pinOf(p)
	}
	path := v.cmd.Pin
	pin, err := readPin(path)
	if err != nil {
		return err
	}
	others := pin == nil && !last || pin != nil && pin.Origin != p.header.Origin &&
		(len(v.parts) > 1 || numberOf(audit.Header{Origin: pin.Origin, Prefix: p.header.Prefix}) > 0)
	if !others {
		p.pin, p.path = pin, path
	}
	return nil
}

// verdict returns the gravest verdict of all parts.
func (v *verification) verdict() audit.Verdict {
	worst := v.parts[0].report.Verdict
	for _, p := range v.parts {
		if grave(p.report.Verdict) > grave(worst) {
			worst = p.report.Verdict
		}
	}
	return worst
}

// digestText returns the digest in the form that people compare, or "" if it is zero.
func digestText(h tlog.Hash) string {
	if h == (tlog.Hash{}) {
		return ""
	}
	return h.String()
}
