package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/evaluate"
)

// ExitDiffers is the exit code of a replay whose decisions differ, if the user asked for it.
const ExitDiffers = 8

// ReplayCmd is `hookctl audit replay`.
type ReplayCmd struct {
	Export  string `placeholder:"FILE" help:"Read this export instead of the live log; - reads the standard input."`
	Session string `placeholder:"ID" help:"Only chains of this session."`
	Event   string `placeholder:"NAME" help:"Only of events of this name, or that match tool:*."`
	Chain   string `placeholder:"ID" help:"Only this chain."`
	cli.Period
	Until string `placeholder:"TIME" help:"Only before this time."`
	Limit int    `placeholder:"N" help:"At most so many chains, the oldest."`

	AsIfEnforced bool `default:"true" negatable:"" help:"Count shadow hooks as if they were enforced; --no-as-if-enforced leaves them out."`

	Worker       string `type:"path" placeholder:"FILE" help:"Try only the hooks of this worker file, not those that are registered."`
	WithRecorded bool   `help:"With --worker: beside the hooks of the recorded chain, which answer as they did. A hook in both stands in its recorded place; others of the file come after, with a negative priority before."`
	RunAll       bool   `help:"With --worker: also run commands whose hook is not replay_safe, which repeats their side effects."`
	HookWorker   string `hidden:"" type:"path" placeholder:"PATH" help:"Not used: hookctl runs worker files itself."`

	Parallel   int           `default:"4" placeholder:"N" help:"How many chains run at the same time."`
	Rate       float64       `placeholder:"N" help:"Most chains that start in a second."`
	Show       int           `default:"50" placeholder:"N" help:"How many different chains text output shows; JSON has all."`
	Progress   time.Duration `default:"5s" help:"How often to print progress to standard error; 0 for never."`
	FailOnDiff bool          `help:"Exit with 8 where a decision would differ, and with 1 where nothing could be replayed."`
}

// Help describes the command.
func (c *ReplayCmd) Help() string {
	return `Recorded events run again through the hooks of today, to try a policy before it is enforced.

Nothing is emitted, published or recorded, and no hook is called that could do something twice: only those registered with
replay_safe, or in mode shadow; they see Hook-Mode: shadow. For every other hook the recorded chain answers; where that has no
answer of the hook, the chain is refused. With --worker only rules run, and commands whose hook is replay_safe.

A chain whose data is not in the log is refused and counted; where secrets are masked there, hooks see the mask.
For an approval request, only the fact that the hook asks (ask_user) is compared, not the answer.

Exit codes: 0 done; 1 error; 8 with --fail-on-diff, a decision would differ.`
}

// Run replays.
func (c *ReplayCmd) Run(ctx context.Context, e *cli.Env) error {
	filter, err := c.filter(e)
	if err != nil {
		return err
	}
	filter.Unreadable = func(err error) { e.Tell("left out: %v", err) }
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if c.Worker == "" {
		e.Forbidden = twoRoles
	}
	o := &replayOpen{ReplayCmd: c, Env: e}
	defer o.close()
	source, err := o.source(ctx, filter)
	if err != nil {
		return err
	}
	policy, err := o.policy()
	if err != nil {
		return err
	}
	show := &replayShow{out: e.Out, limit: c.Show}
	quiet := show.progress(e.Stderr, c.Progress)
	err = evaluate.Replay(ctx, source, policy, evaluate.ReplayOptions{Parallel: c.Parallel, Rate: c.Rate}, func(r evaluate.Replayed) error {
		show.result(r)
		return e.Out.Failure()
	})
	quiet()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	report := show.end()
	if report.Chains == 0 {
		e.Tell("no chain was found: see `hookctl audit query --kind chain.result`")
	}
	switch {
	case !c.FailOnDiff:
	case report.Replayed == 0:
		return errors.New("replay: no chain was replayed, and so nothing is known of what would differ")
	case report.Differ > 0:
		e.Exit = ExitDiffers
	}
	return nil
}

func (c *ReplayCmd) filter(e *cli.Env) (evaluate.RecordingFilter, error) {
	f, err := audit.FilterFlags{Session: c.Session, Chain: c.Chain, Event: c.Event, Period: c.Period, Until: c.Until}.Filter(e, time.Now())
	if err == nil && c.Worker == "" && (c.WithRecorded || c.RunAll || c.HookWorker != "") {
		err = errors.New("--with-recorded and --run-all need --worker")
	}
	if err == nil && (c.Limit < 0 || c.Parallel < 1 || c.Rate < 0 || c.Show < 0) {
		err = errors.New("--limit, --rate and --show can't be negative, and --parallel must be at least 1")
	}
	return evaluate.RecordingFilter{Session: f.Session, Chain: f.Chain, Event: f.Event, Since: f.Since, Until: f.Until, Limit: c.Limit}, err
}
