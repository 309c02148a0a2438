package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func (w *within) register(h Handler) error {
	next := w.next(h.Behavior)
	remove, err := w.hooks.Register(chain.Registration{
		ID: busID(h.ID), Name: h.Name, Events: []string{h.Event}, Priority: h.Priority, TimeoutMS: h.TimeoutMS, OnFailure: chain.Policy(h.OnFailure),
	}, func(ctx context.Context, ev events.Event) (chain.Result, error) {
		reply, err := next(ctx, h.ID, ev)
		if err != nil {
			return chain.Result{}, err
		}
		return chain.ParseResult(reply)
	})
	w.remove[h.ID] = remove
	return err
}

func (w *within) contribute(c Contributor) error {
	next := w.next(c.Behavior)
	remove, err := w.hooks.Contribute(chain.Registration{ID: busID(c.ID), Name: c.Name, Channels: []string{c.Channel}},
		func(ctx context.Context, channel string) (any, error) {
			reply, err := next(ctx, c.ID, events.Event{Name: channel, Data: json.RawMessage("{}")})
			if err != nil {
				return nil, err
			}
			return json.RawMessage(reply), nil
		})
	w.remove[c.ID] = remove
	return err
}

// next answers the calls of a hook one after the other, as its script says.
func (w *within) next(b Behavior) func(context.Context, string, events.Event) ([]byte, error) {
	var mu sync.Mutex
	served := 0
	return func(ctx context.Context, id string, ev events.Event) ([]byte, error) {
		if b.NoResponder {
			return nil, chain.ErrNoResponder
		}
		data, err := decode(ev.Data)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		w.journal.called(call{id: id, event: ev.Name, data: data})
		now := b.at(served)
		served++
		mu.Unlock()
		if err := wait(ctx, time.Duration(now.SleepMS)*time.Millisecond); err != nil {
			return nil, err
		}
		a, err := now.answer(ev.Data)
		if a.fails {
			err = errors.New(a.cause)
		}
		return a.body, err
	}
}

// busID makes an id of the case one of a registration.
func busID(id string) string { return (&bench{tag: "w"}).busID(id) }
