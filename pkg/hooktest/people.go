package hooktest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// ScriptedApprover answers approval requests from a script. See [Bus.Approve].
type ScriptedApprover struct {
	mu       sync.Mutex // guards the fields below
	options  []string
	requests []approval.Request
}

// Approve answers the approval requests of the bus until the test ends, each with the next of
// options, in the order in which they are opened. When no options are left, it answers that the
// approval system failed: the request's default applies, which denies unless the hook set another.
func (b *Bus) Approve(t testing.TB, options ...string) *ScriptedApprover {
	t.Helper()
	s := &ScriptedApprover{options: options}
	people := approver.New(b.Client(t))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- people.Watch(ctx, func(n approval.Notice) {
			if n.Decision == nil {
				if _, err := people.Answer(ctx, n.Request.ID, s.next(n.Request)); err != nil && ctx.Err() == nil {
					t.Errorf("answer %q: %v", n.Request.Prompt, err)
				}
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// next records a request and takes its answer from the script.
func (s *ScriptedApprover) next(r approval.Request) approval.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.options) == 0 {
		return approval.Answer{Error: "no answer is left in the script"}
	}
	answer := approval.Answer{Option: s.options[0], By: "hooktest", DataSHA256: r.DataSHA256}
	s.options = s.options[1:]
	return answer
}

// Requests returns the requests so far, in order.
func (s *ScriptedApprover) Requests() []approval.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// FakeDisplay is an [agent.Display] that records messages. The zero FakeDisplay is ready to use.
type FakeDisplay struct {
	// Err is returned by Show, which records the message anyway.
	Err error

	mu    sync.Mutex // guards shown
	shown []verdict.Display
}

// Show records a message.
func (d *FakeDisplay) Show(_ context.Context, m verdict.Display) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown = append(d.shown, m)
	return d.Err
}

// Shown returns the messages so far, in order.
func (d *FakeDisplay) Shown() []verdict.Display {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.shown)
}

// FakeContext is an in-memory [agent.ContextManager] that can fail. The zero FakeContext is empty
// and ready to use.
type FakeContext struct {
	agent.MemoryContext
	// Err, if not nil, is returned by AddMessage, which then adds nothing.
	Err error
}

// AddMessage appends a message, or returns Err.
func (c *FakeContext) AddMessage(ctx context.Context, m agent.Message) error {
	if c.Err != nil {
		return c.Err
	}
	return c.MemoryContext.AddMessage(ctx, m)
}
