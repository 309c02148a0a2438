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

// ScriptedApprover answers approval requests in the place of a person. See [Bus.Approve].
type ScriptedApprover struct {
	mu       sync.Mutex // guards what follows
	options  []string
	requests []approval.Request
}

// Approve starts to answer the approval requests of the bus, until the test ends: with
// one of the options for each, in the order in which they are opened. Where no option is
// left the approval system fails: the request's default decides, which is a denial unless
// the hook said otherwise.
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

// next notes a request and takes the answer to it from the script.
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

// Requests are those that came so far, in their order.
func (s *ScriptedApprover) Requests() []approval.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// FakeDisplay is an [agent.Display] that keeps what it is shown. The zero FakeDisplay is
// ready.
type FakeDisplay struct {
	// Err is returned by Show, which keeps the message all the same.
	Err error

	mu    sync.Mutex // guards shown
	shown []verdict.Display
}

// Show keeps a message.
func (d *FakeDisplay) Show(_ context.Context, m verdict.Display) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown = append(d.shown, m)
	return d.Err
}

// Shown are the messages so far, in their order.
func (d *FakeDisplay) Shown() []verdict.Display {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.shown)
}

// FakeContext is an [agent.ContextManager] in memory that can fail. The zero FakeContext is
// empty and ready.
type FakeContext struct {
	agent.MemoryContext
	// Err is returned by AddMessage, which then adds nothing.
	Err error
}

// AddMessage appends a message, or fails.
func (c *FakeContext) AddMessage(ctx context.Context, m agent.Message) error {
	if c.Err != nil {
		return c.Err
	}
	return c.MemoryContext.AddMessage(ctx, m)
}
