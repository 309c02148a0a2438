package reload

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// form is a hook as in one version of the file. It is closed when its last reference is released.
type form struct {
	workerfile.Hook
	table *chain.Table // contains only this hook
	holds atomic.Int64 // references held by slots, by calls in flight, and by its creator
}

// newForm returns a form with one reference, which the caller holds.
func newForm(h workerfile.Hook) *form {
	h.Handler = h.Named()
	f := &form{Hook: h, table: (&chain.Table{}).Apply(chain.Change{
		ID: h.Registration.ID, Entry: &chain.Entry{Registration: h.Registration, Condition: h.Condition},
	})}
	f.holds.Store(1)
	return f
}

// start begins slow preparations of the hook, which Close ends.
func (f *form) start() {
	if f.Start != nil {
		f.Start()
	}
}

func (f *form) release() {
	if f.holds.Add(-1) == 0 && f.Close != nil {
		f.Close()
	}
}

// wants reports whether a router calls the hook for an event, according to the registration in its
// file.
func (f *form) wants(ev events.Event) bool {
	entries := f.table.For(ev.Name, ev.Session)
	if len(entries) == 0 || entries[0].Condition == nil {
		return len(entries) > 0
	}
	wanted, err := entries[0].Condition(chain.ViewOf(ev))
	return wanted && err == nil
}

// errGone is the answer to a call that arrives long after its hook was removed.
var errGone = errors.New("the hook is not in the worker's file any more")

// slot receives the calls of one registration, across versions of the file.
type slot struct {
	mu    sync.Mutex // guards forms, and taking references to its elements
	forms []*form    // who may answer: the first that wants the call, else the first; copied on write
}

// answer is the handler that is registered with the worker.
func (s *slot) answer(ctx context.Context, ev events.Event) (chain.Result, error) {
	f := s.take(func(f *form) bool { return f.wants(ev) })
	if f == nil {
		return chain.Result{}, errGone
	}
	defer f.release()
	return f.Handler(ctx, ev)
}

// contribute is the contributor that is registered with the worker.
func (s *slot) contribute(ctx context.Context, channel string) (any, error) {
	f := s.take(func(f *form) bool { return f.Contributors[channel] != nil })
	if f == nil {
		return nil, errGone
	}
	defer f.release()
	if give := f.Contributors[channel]; give != nil {
		return give(ctx, channel)
	}
	return nil, nil
}

// take returns the form that answers a call, with a reference, or nil if there is none.
func (s *slot) take(wants func(*form) bool) *form {
	s.mu.Lock()
	forms := s.forms
	for _, f := range forms {
		f.holds.Add(1)
	}
	s.mu.Unlock()
	if len(forms) == 0 {
		return nil
	}
	chosen := forms[0]
	if len(forms) > 1 {
		chosen = forms[max(slices.IndexFunc(forms, wants), 0)]
	}
	for _, f := range forms {
		if f != chosen {
			f.release()
		}
	}
	return chosen
}

// lead moves or adds a form to the front.
func (s *slot) lead(f *form) {
	s.edit(f, func(others []*form) []*form { return append([]*form{f}, others...) })
}

// follow moves or adds a form to the second place.
func (s *slot) follow(f *form) {
	s.edit(f, func(others []*form) []*form { return slices.Insert(others, min(1, len(others)), f) })
}

// drop removes a form, if the slot has it.
func (s *slot) drop(f *form) {
	s.edit(f, func(others []*form) []*form { return others })
}

// edit replaces the list of forms. list gets the forms other than f. The slot holds a reference to
// each form in its list.
func (s *slot) edit(f *form, list func(others []*form) []*form) {
	s.mu.Lock()
	before := slices.Contains(s.forms, f)
	s.forms = list(slices.DeleteFunc(slices.Clone(s.forms), func(other *form) bool { return other == f }))
	after := slices.Contains(s.forms, f)
	if after && !before {
		f.holds.Add(1)
	}
	s.mu.Unlock()
	if before && !after {
		f.release()
	}
}

// clear removes every form.
func (s *slot) clear() {
	s.mu.Lock()
	forms := s.forms
	s.forms = nil
	s.mu.Unlock()
	for _, f := range forms {
		f.release()
	}
}
