package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// call is one line of `hook add`: one call of the hook.
type call struct {
	Kind    string          `json:"kind"` // call
	Hook    string          `json:"hook"`
	Event   string          `json:"event"`
	Session string          `json:"session_id,omitempty"`
	EventID string          `json:"event_id"`
	ChainID string          `json:"chain_id,omitempty"`
	Mode    chain.Mode      `json:"mode,omitempty"`
	Micros  int64           `json:"us"`
	Data    json.RawMessage `json:"data"`
	Result  *chain.Result   `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// shown is handler with each call shown.
func (e *env) shown(id string, handler worker.Handler) worker.Handler {
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		began := time.Now()
		result, err := handler(ctx, ev)
		from := worker.CallFrom(ctx)
		c := call{
			Kind: "call", Hook: id, Event: ev.Name, Session: ev.Session, EventID: ev.ID, ChainID: from.ChainID,
			Mode: from.Mode, Micros: time.Since(began).Microseconds(), Data: ev.Data, Result: &result,
		}
		if err != nil {
			c.Result, c.Error = nil, err.Error()
		}
		e.out.call(c)
		return result, err
	}
}

func (p *printer) call(c call) {
	if p.json {
		p.line(c)
		return
	}
	did := p.paint(red, "failed: "+clean(c.Error))
	if c.Result != nil {
		action := c.Result.Action
		if action == "" {
			action = chain.Continue
		}
		did = p.paint(actionColor(action), string(action))
		if c.Result.Reason != "" {
			did += ": " + clean(c.Result.Reason)
		}
	}
	p.print("%s %-16s %-10s %s  %s  %s\n", p.clock(), clean(c.Event), orDash(clean(c.Session)),
		did, p.paint(dim, micros(c.Micros)), clean(clip(string(c.Data), 2*maxValue)))
}

// note is a line of `hook add` about the hook itself.
type note struct {
	Kind   string   `json:"kind"` // registered, removed, or stays
	Hook   string   `json:"hook"`
	Events []string `json:"events"`
}

// served says that the hook is called from now on.
func (e *env) served(reg chain.Registration) {
	if e.out.json {
		e.out.line(note{"registered", reg.ID, reg.Events})
		return
	}
	e.out.print("serving hook %s on %s; Ctrl-C ends\n", reg.ID, strings.Join(reg.Events, ", "))
}

// left says what became of the hook when it was served no more.
func (e *env) left(reg chain.Registration) {
	switch {
	case e.out.json && reg.StaysRegistered():
		e.out.line(note{"stays", reg.ID, reg.Events})
	case e.out.json:
		e.out.line(note{"removed", reg.ID, reg.Events})
	case reg.StaysRegistered():
		e.out.print("hook %s stays registered and, with nobody to serve it, denies %s: `hookctl hook rm %s` removes it\n",
			reg.ID, strings.Join(reg.Events, ", "), reg.ID)
	default:
		e.out.print("hook %s is gone from here\n", reg.ID)
	}
}
