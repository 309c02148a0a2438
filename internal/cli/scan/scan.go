package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hookrouter/hookrouter/examples/policies"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/transcript"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Cmd is hookctl scan.
type Cmd struct {
	Policy string `placeholder:"FILE" help:"Worker file; default: the starter policy for coding agents."`
	cli.Period
	Dir []string `placeholder:"DIR" help:"Read the transcripts in this directory, instead of those of Claude Code and Codex; repeatable."`
}

// Help describes the command.
func (c *Cmd) Help() string {
	return `The transcripts that Claude Code (~/.claude/projects) and Codex (~/.codex/sessions) keep are read as the events
that these agents would have reported, and run through the hooks of a policy. Nothing is written, nothing is called and
nothing leaves this machine; no router is needed. Secrets in what is shown are masked.

Exit codes: 0 the transcripts were read, whatever is in them; 1 there are none, or the policy has errors.`
}

// Run scans the transcripts.
func (c *Cmd) Run(ctx context.Context, e *cli.Env) error {
	since, err := c.From(time.Now())
	if err != nil {
		return err
	}
	policy, err := c.policy(e.Stderr)
	if err != nil {
		return err
	}
	defer policy.Close()
	dirs := c.Dir
	if len(dirs) == 0 {
		home := e.Getenv("HOME")
		if home == "" {
			home, _ = os.UserHomeDir() // home stays empty on failure, and nothing is found
		}
		dirs = transcript.Dirs(home, e.Getenv)
	}
	files, unreadable := transcript.Files(dirs, since)
	if len(files) == 0 {
		return noneFound(dirs, unreadable, cmp.Or(c.Since, c.Last))
	}
	s := &scan{
		hooks: evaluate.NewFilePolicy(policy, evaluate.FilePolicyOptions{AsIfEnforced: true}),
		since: since, seen: map[string]bool{}, report: newReport(c.Policy, len(files), unreadable),
	}
	if err := s.files(ctx, files); err != nil {
		return err
	}
	s.report.finish()
	if !e.Out.Document(s.report) {
		s.report.show(e.Out)
	}
	return nil
}

// policy returns the given worker file, or the built-in one.
func (c *Cmd) policy(stderr io.Writer) (*workerfile.File, error) {
	if c.Policy != "" {
		return workerfiles.Look(c.Policy, kind.Worker{}, stderr)
	}
	options := kinds.All(kind.Worker{})
	options.FileOnly = true
	return workerfile.Parse("coding-agent.yaml", policies.CodingAgent, options)
}

func noneFound(dirs []string, unreadable int, since string) error {
	text := "find transcripts: there are none in " + strings.Join(dirs, " or ")
	if since != "" {
		text += " since " + since
	}
	if unreadable > 0 {
		text += fmt.Sprintf(", and %s could not be read", term.Plural(unreadable, "file or directory"))
	}
	return errors.New(text + ": Claude Code and Codex keep them there once they have run; --dir reads others, and hookctl test --events FILE runs events of your own")
}

// scan runs transcripts through hooks.
type scan struct {
	hooks *evaluate.FilePolicy
	since time.Time

	mu     sync.Mutex      // guards the fields below
	seen   map[string]bool // event ids; a resumed session repeats events in several files
	report *report
}

// files reads transcripts, several at a time.
func (s *scan) files(ctx context.Context, paths []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, path := range paths {
		g.Go(func() error { return s.file(ctx, path) })
	}
	return g.Wait()
}

// file reads one transcript. An unreadable one is only counted.
func (s *scan) file(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		s.locked(func(r *report) { r.Unreadable++ })
		return nil
	}
	defer f.Close()
	counts, err := transcript.Read(f, func(ev events.Event) error { return s.event(ctx, ev) })
	s.locked(func(r *report) {
		r.Lines, r.Skipped = r.Lines+counts.Lines, r.Skipped+counts.Skipped
		if err != nil && ctx.Err() == nil {
			r.Unreadable++
		}
	})
	return context.Cause(ctx)
}

// event runs an event through the hooks, unless it was seen before.
func (s *scan) event(ctx context.Context, ev events.Event) error {
	at, _ := time.Parse(time.RFC3339, ev.Time) // zero if unknown
	if !s.since.IsZero() && at.Before(s.since) || s.again(ev) {
		return ctx.Err()
	}
	if ev.ID == "" {
		ev.ID = events.NewID()
	}
	out, err := s.hooks.Decide(ctx, ev)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.locked(func(r *report) { r.add(ev, at, out, err) })
	return nil
}

func (s *scan) again(ev events.Event) bool {
	if ev.ID == "" {
		return false
	}
	key := ev.Source + ev.Name + ev.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.seen[key]
	s.seen[key] = true
	return was
}

func (s *scan) locked(do func(*report)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s.report)
}
