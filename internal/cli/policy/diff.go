package policy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// DiffCmd is `hookctl policy diff`.
type DiffCmd struct {
	Old string `arg:"" help:"The worker file as it is, or git:REVISION:FILE."`
	New string `arg:"" optional:"" help:"The worker file as it would be, or git:REVISION:FILE; with --base the only one that is given."`

	Base    string `placeholder:"REVISION" help:"Compare one worker file with what it is in this revision of its Git repository, such as main."`
	Export  string `placeholder:"FILE" help:"Read this export instead of the live log; - reads the standard input."`
	Session string `placeholder:"ID" help:"Only chains of this session."`
	Event   string `placeholder:"NAME" help:"Only of events of this name, or that match tool:*."`
	cli.Period
	Until      string `placeholder:"TIME" help:"Only before this time."`
	Limit      int    `placeholder:"N" help:"At most so many chains, the oldest."`
	PolicyExec bool   `help:"Also call hooks that run commands or call endpoints, if they are replay_safe. Only for files that you trust: a pull request can change both."`
	Alone      bool   `help:"Leave out the other hooks of the recorded chains, which else answer as they did."`
	Show       int    `default:"20" placeholder:"N" help:"How many changed decisions text output shows; JSON has all."`

	Parallel int `default:"4" placeholder:"N" help:"How many chains run at the same time."`
}

// Help describes the command.
func (c *DiffCmd) Help() string {
	return `Recorded events run through two worker files, and the decisions that the second would change are listed: in a pull request,
hookctl policy diff --base origin/main policy.yaml --last 7d. Nothing is emitted or recorded. Only rules run, and replay_safe hooks that
neither run commands nor call endpoints; --policy-exec calls those too. Hooks in mode shadow decide nothing, as in a router. Rules see the labels, the sender and the lineage as recorded; above a sub-agent's
parent, the log names only the root.

A hook that is not in the files, or that may not run here, answers as it was recorded. Where it has no recorded answer the chain is refused
and counted. Of git:REVISION:FILE, the files beside it are those of the revision too.

Exit codes: 0 no past decision changes; 1 error, or nothing could be replayed; 8 some change.`
}

// Run compares.
func (c *DiffCmd) Run(ctx context.Context, e *cli.Env) error {
	older, newer, err := c.names()
	if err != nil {
		return err
	}
	base := &ReplayCmd{Export: c.Export, Session: c.Session, Event: c.Event, Period: c.Period, Until: c.Until, Limit: c.Limit, Parallel: c.Parallel, Show: c.Show}
	filter, err := base.filter(e)
	if err != nil {
		return err
	}
	filter.Unreadable = func(err error) { e.Tell("left out: %v", err) }
	o := &replayOpen{ReplayCmd: base, Env: e}
	defer o.close()
	was, err := o.file(ctx, older)
	if err != nil {
		return err
	}
	would, err := o.file(ctx, newer)
	if err != nil {
		return err
	}
	before, after := c.policy(was, would), c.policy(would, was)
	for _, id := range unseen(was, would, before, after) {
		e.Tell("hook %s differs, and may not be called here: its recorded answers count, and a change of them is not seen", term.Printable(id))
	}
	source, err := o.source(ctx, filter)
	if err != nil {
		return err
	}
	show := &replayShow{out: e.Out, limit: c.Show, brief: true}
	err = evaluate.Replay(ctx, source, after.Replay, evaluate.ReplayOptions{Parallel: c.Parallel, Was: before.Replay}, func(r evaluate.Replayed) error {
		show.result(r)
		return e.Out.Failure()
	})
	if err != nil {
		return fmt.Errorf("compare policies: %w", err)
	}
	switch report := show.end(); {
	case report.Chains == 0:
		return errors.New("compare policies: no chain was found: see `hookctl audit query --kind chain.result`")
	case report.Replayed == 0:
		return errors.New("compare policies: no chain was replayed, and so nothing is known of what would change")
	case report.Differ > 0:
		e.Exit = ExitDiffers
	}
	return nil
}

// unseen returns the hooks that differ between two files and that one of the policies does not call.
func unseen(was, would *workerfile.File, before, after *evaluate.FilePolicy) (list []string) {
	for _, h := range would.Hooks {
		id := h.Registration.ID
		i := slices.IndexFunc(was.Hooks, func(old workerfile.Hook) bool { return old.Registration.ID == id })
		if i >= 0 && !h.Same(was.Hooks[i]) && !(before.Calls(id) && after.Calls(id)) {
			list = append(list, id)
		}
	}
	return list
}

// names returns the two files.
func (c *DiffCmd) names() (older, newer string, err error) {
	switch {
	case c.Base == "" && c.New == "":
		return "", "", errors.New("policy diff: give two worker files, or one with --base REVISION")
	case c.Base == "":
		return c.Old, c.New, nil
	case c.New != "":
		return "", "", errors.New("policy diff: with --base give one worker file")
	}
	return "git:" + c.Base + ":" + c.Old, c.Old, nil
}

// file opens a worker file, which stays open until close.
func (o *replayOpen) file(ctx context.Context, name string) (*workerfile.File, error) {
	path := name
	rev, given, err := parseRevision(name)
	if err != nil {
		return nil, err
	}
	if given {
		dir, err := os.MkdirTemp("", "hookctl-policy-")
		if err != nil {
			return nil, err
		}
		o.closing = append(o.closing, func() { _ = os.RemoveAll(dir) })
		if path, _, err = rev.checkout(ctx, dir); err != nil {
			return nil, err
		}
	}
	file, err := workerfiles.Loader(path, false, o.Stderr)(kind.Worker{})
	switch {
	case err != nil && given:
		return nil, fmt.Errorf("%s: %w", name, err)
	case err != nil:
		return nil, err // it names the file
	}
	o.closing = append(o.closing, file.Close)
	return file, nil
}

// policy returns the policy of a file. A hook that only the other file has does not answer, not
// even as recorded. A hook in mode shadow decides nothing.
func (c *DiffCmd) policy(file, other *workerfile.File) *evaluate.FilePolicy {
	mine := ids(file)
	without := slices.DeleteFunc(ids(other), func(id string) bool { return slices.Contains(mine, id) })
	return evaluate.NewFilePolicy(file, evaluate.FilePolicyOptions{Acting: c.PolicyExec, WithRecorded: !c.Alone, Without: without})
}

func ids(file *workerfile.File) (list []string) {
	for _, h := range file.Hooks {
		list = append(list, h.Registration.ID)
	}
	return list
}

// changed prints the decisions that differ, several lines for each.
func (s *replayShow) changed() {
	for _, l := range s.listed {
		changed{
			l.Time, l.Event, term.Clip(term.Word(l.Session), 24), brief(*l.Was),
			s.out.Paint(cli.ActionColor(l.Would.Action), brief(*l.Would)) + other(l.Differs), why(l), l.ChainID,
		}.print(s.out)
	}
}

// changed is a decision that differs. in, was and would are ready to print; the rest is untrusted
// text.
type changed struct {
	time            time.Time
	event           string
	in, was, would  string
	reason, chainID string
}

func (c changed) print(out *term.Printer) {
	out.Print("\n%s  %s  %s\n", c.time.UTC().Format(time.RFC3339), term.Clip(term.Printable(c.event), 24), c.in)
	out.Print("  %s, would be %s\n", c.was, c.would)
	if c.reason != "" {
		out.Print("  %s\n", term.Clip(term.Printable(c.reason), 76))
	}
	out.Print("  hookctl why %s\n", term.Printable(c.chainID))
}
