package chain

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// abreast bounds the concurrent calls of one event.
const abreast = 16

// group holds the calls of adjacent hooks that only validate. They all get the same data, and their
// answers are taken in order. A nil group is empty.
type group struct {
	n       int // number of the group in the chain, from 1; 0 if its hook is called alone
	members []*member
	taken   int // members whose answers were taken
	cancel  context.CancelFunc
	stopped atomic.Bool
	running sync.WaitGroup
}

// member is one call of a group. Its result is written before done is closed.
type member struct {
	call   Call
	wanted bool
	began  bool
	ask    func()        // makes the call in take; nil if another goroutine makes it or there is no call
	done   chan struct{} // closed after the call; nil if no other goroutine makes it
}

// neighbors returns the hooks at the front of a chain that only validate, up to the first enforced
// hook that does not. It skips hooks that are not enforced.
func (p Plan) neighbors(entries []*Entry) []*Entry {
	if p.OneByOne {
		return entries[:1]
	}
	var list []*Entry
	for _, entry := range entries {
		switch {
		case entry.validates():
			list = append(list, entry)
		case entry.Enforced():
			return list
		}
	}
	return list
}

// begin starts the calls of the hooks that match the event, except for the first, which take makes.
// before is the number of earlier groups.
func (p Plan) begin(ctx context.Context, before int, entries []*Entry, view *View, ev events.Event) *group {
	ctx, cancel := context.WithCancel(ctx)
	g := &group{cancel: cancel}
	var others []*member
	first := true
	ask := func(m *member) {
		m.began = true
		m.call, m.wanted = p.ask(ctx, m.call.Entry, ev)
		m.call.Group = g.n
	}
	for _, entry := range entries {
		m := new(member)
		m.call, m.wanted = match(entry, view)
		g.members = append(g.members, m)
		switch {
		case !m.wanted || m.call.Failure != "":
		case first:
			first, m.ask = false, func() { ask(m) }
		default:
			m.done = make(chan struct{})
			others = append(others, m)
		}
	}
	if len(others) > 0 {
		g.n = before + 1
	}
	var next atomic.Int64
	for range min(len(others), abreast-1) {
		g.running.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(others)) && !g.stopped.Load(); i = next.Add(1) - 1 {
				ask(others[i])
				close(others[i].done)
			}
		})
	}
	return g
}

func (g *group) empty() bool { return g == nil || g.taken == len(g.members) }

// take waits for the next answer, in order, and returns it.
func (g *group) take() (Call, bool) {
	m := g.members[g.taken]
	g.taken++
	if m.ask != nil {
		m.ask()
	}
	if m.done != nil {
		<-m.done
	}
	return m.call, m.wanted
}

// stop cancels the calls whose answers were not taken, waits for them to return, and returns them.
func (g *group) stop() (discarded []Call) {
	if g == nil {
		return nil
	}
	g.stopped.Store(true)
	g.cancel()
	g.running.Wait()
	for _, m := range g.members[g.taken:] {
		if m.began && m.wanted && m.call.Called() {
			discarded = append(discarded, Call{Entry: m.call.Entry, Start: m.call.Start, Took: m.call.Took, Group: g.n})
		}
	}
	return discarded
}

// changesNothing returns an error if a hook that only validates may have changed something. Data in
// a question or an injection would reach the agent.
func (r Result) changesNothing() error {
	if r.Action == Modify || r.Data != nil && (r.Action == AskUser || r.Action == InjectContext) {
		return fmt.Errorf("%w: its registration says that it only validates, and it answered %s", ErrInvalidResult, r.Action)
	}
	return nil
}
