package approvals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

type watchCmd struct {
	Session string `placeholder:"ID" help:"Only approval requests of this session."`
	By      string `placeholder:"NAME" help:"Who answers; default: the local user."`
}

// maxStatus is how many status messages about the connection may be queued for the asker.
const maxStatus = 16

// Run asks interactively on a terminal. Elsewhere it writes a line for each approval request and
// decision.
func (c *watchCmd) Run(ctx context.Context, e *cli.Env) error {
	status := make(chan string, maxStatus)
	if interactive(e) {
		e.Status = func(text string) {
			select {
			case status <- text:
			default: // the asker has ended, or is slow
			}
		}
	}
	a, err := e.Approver(ctx)
	if err != nil {
		return err
	}
	if interactive(e) {
		err = c.ask(ctx, e, a, status)
	} else {
		if !e.Out.JSON {
			fmt.Fprintln(e.Stderr, "watching approval requests; Ctrl-C ends")
		}
		err = a.Watch(ctx, c.of(func(n approval.Notice) { showNotice(e.Out, n) }))
	}
	if err != nil {
		return err
	}
	return cli.StopCause(ctx)
}

// interactive reports whether a person can be asked on the terminal.
func interactive(e *cli.Env) bool {
	in, isFile := e.Stdin.(*os.File)
	return e.Terminal && !e.Out.JSON && (!isFile || term.IsTerminal(in))
}

// of returns a handler that passes on only the notices of the requested session.
func (c *watchCmd) of(handle func(approval.Notice)) func(approval.Notice) {
	return func(n approval.Notice) {
		if c.Session == "" || n.Request.Session == c.Session {
			handle(n)
		}
	}
}

// ask runs the asker, and a watch that feeds it, until the user quits or ctx ends. The asker owns
// the screen, so it shows the connection's status too.
func (c *watchCmd) ask(ctx context.Context, e *cli.Env, a *approver.Approver, status <-chan string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newAsker(e.Out, service{
		get: func(id string) (approval.Record, error) { return a.Get(ctx, id) },
		answer: func(id string, answer approval.Answer) (string, error) {
			if _, err := a.Answer(ctx, id, answer); err != nil {
				return "", err
			}
			return missing(ctx, a, id), nil
		},
	}, cmp.Or(c.By, cli.OSUser()))
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(e.Stdin), tea.WithOutput(e.Stdout),
		tea.WithoutSignalHandler(), tea.WithWindowSize(80, 24))
	var beside sync.WaitGroup
	var watchErr error
	beside.Go(func() {
		watchErr = a.Watch(ctx, c.of(func(n approval.Notice) { program.Send(n) }))
		program.Quit()
	})
	beside.Go(func() { everySecond(ctx, func() { program.Send(tickMsg{}) }) })
	beside.Go(func() {
		for {
			select {
			case text := <-status:
				program.Send(statusMsg(text))
			case <-ctx.Done():
				return
			}
		}
	})
	_, err := program.Run()
	cancel()
	beside.Wait()
	if watchErr != nil {
		return watchErr
	}
	if errors.Is(err, tea.ErrProgramKilled) && errors.Is(err, context.Canceled) {
		return nil // the caller's context has ended
	}
	if err != nil {
		return fmt.Errorf("use the terminal: %w", err)
	}
	return nil
}

func everySecond(ctx context.Context, do func()) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			do()
		case <-ctx.Done():
			return
		}
	}
}

// noticed is the JSON form of a notice.
type noticed struct {
	Kind     string             `json:"kind"` // asked, reviewed or decided
	Question approval.Request   `json:"question"`
	Decision *approval.Decision `json:"decision,omitempty"`
}

// showNotice writes one line of watch.
func showNotice(p *term.Printer, n approval.Notice) {
	q := n.Request
	kind, what := "asked", term.Yellow.Cell("asked, "+left(q.Expires, time.Now()).Text+" left")
	switch {
	case n.Decision != nil:
		kind, what = "decided", decision(*n.Decision)
	case len(q.Reviews) > 0:
		kind = "reviewed"
	}
	if !p.Line(noticed{kind, q, n.Decision}) {
		p.Fold(fmt.Sprintf("%s %s  %-10s %s: %s  %s", p.Clock(), term.Printable(q.ID), term.Word(q.Session),
			term.Printable(q.Hook), term.Clip(term.OneLine(asked(q)), term.MaxValue), p.Paint(what.Color, what.Text)))
	}
}
