package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

type approvalsWatchCmd struct {
	Session string `placeholder:"ID" help:"Only questions of this session."`
	By      string `placeholder:"NAME" help:"Who answers; default: the user of this machine."`
}

// maxStatus is how much news of the connection may wait for the asker.
const maxStatus = 16

// Run asks on a terminal, and writes a line for each question and decision
// elsewhere.
func (c *approvalsWatchCmd) Run(ctx context.Context, e *env) error {
	status := make(chan string, maxStatus)
	if e.interactive() {
		e.status = func(text string) {
			select {
			case status <- text:
			default: // the asker is gone, or slow
			}
		}
	}
	a, closeBus, err := e.approver(ctx)
	if err != nil {
		return err
	}
	defer closeBus()
	if e.interactive() {
		err = c.ask(ctx, e, a, status)
	} else {
		err = a.Watch(ctx, c.of(func(n approval.Notice) { e.out.notice(n) }))
	}
	if err != nil {
		return err
	}
	return ended(ctx)
}

// interactive reports whether there is somebody to ask.
func (e *env) interactive() bool {
	in, isFile := e.stdin.(*os.File)
	return e.terminal && !e.out.json && (!isFile || isTerminal(in))
}

// of keeps the notices of the session that was asked for.
func (c *approvalsWatchCmd) of(handle func(approval.Notice)) func(approval.Notice) {
	return func(n approval.Notice) {
		if c.Session == "" || n.Request.Session == c.Session {
			handle(n)
		}
	}
}

// ask runs the asker until the person leaves or ctx ends. What watches ends with
// it. The asker owns the screen, so that it shows the status too.
func (c *approvalsWatchCmd) ask(ctx context.Context, e *env, a *approver.Approver, status <-chan string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newAsker(e.out, desk{
		get: func(id string) (approval.Record, error) { return a.Get(ctx, id) },
		answer: func(id string, answer approval.Answer) error {
			_, err := a.Answer(ctx, id, answer)
			return err
		},
	}, cmp.Or(c.By, osUser()))
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(e.stdin), tea.WithOutput(e.stdout),
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
		return nil // the caller's context ended
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
	Kind     string             `json:"kind"` // asked or decided
	Question approval.Request   `json:"question"`
	Decision *approval.Decision `json:"decision,omitempty"`
}

// notice writes one line of watch.
func (p *printer) notice(n approval.Notice) {
	q := n.Request
	switch {
	case p.json && n.Decision == nil:
		p.line(noticed{"asked", q, nil})
	case p.json:
		p.line(noticed{"decided", q, n.Decision})
	default:
		what := cell{"asked, " + left(q.Expires, time.Now()).text + " left", yellow}
		if n.Decision != nil {
			what = decision(*n.Decision)
		}
		p.print("%s %s  %-10s %s: %s  %s\n", p.clock(), printable(q.ID), orDash(printable(q.Session)),
			printable(q.Hook), clip(printable(q.Prompt), maxValue), p.paint(what.color, what.text))
	}
}
