package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// call is one output line of `hook add` about a call of the hook.
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

// shown wraps a handler so that each call is printed.
func shown(e *cli.Env, id string, handler worker.Handler) worker.Handler {
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
		showCall(e.Out, c)
		return result, err
	}
}

func showCall(p *term.Printer, c call) {
	if p.Line(c) {
		return
	}
	did := p.Paint(term.Red, "failed: "+term.Clean(cli.Masked(c.Error)))
	if c.Result != nil {
		action := cmp.Or(c.Result.Action, chain.Continue)
		did = p.Paint(cli.ActionColor(action), string(action))
		if c.Result.Reason != "" {
			did += ": " + term.Clean(cli.Masked(c.Result.Reason))
		}
	}
	p.Print("%s %-16s %-10s %s  %s  %s\n", p.Clock(), term.Clean(c.Event), term.OrDash(term.Clean(c.Session)),
		did, p.Paint(term.Dim, term.Micros(c.Micros)), term.Clean(term.Clip(string(cli.MaskedJSON("", c.Data)), 2*term.MaxValue)))
}

// note is one output line of `hook add` about the hook itself.
type note struct {
	Kind   string   `json:"kind"` // registered, removed, or stays
	Hook   string   `json:"hook"`
	Events []string `json:"events"`
}

// served prints that the hook is being served.
func served(e *cli.Env, reg chain.Registration) {
	if e.Out.Line(note{"registered", reg.ID, reg.Events}) {
		return
	}
	e.Out.Print("serving hook %s on %s; Ctrl-C ends\n", reg.ID, strings.Join(reg.Events, ", "))
}

// showLeft prints whether the hook stays registered now that it is no longer served.
func showLeft(e *cli.Env, reg chain.Registration) {
	kind := "removed"
	if reg.StaysRegistered() {
		kind = "stays"
	}
	switch {
	case e.Out.Line(note{kind, reg.ID, reg.Events}):
	case reg.StaysRegistered():
		e.Out.Print("hook %s stays registered and, with nobody to serve it, denies %s: `hookctl hook rm %s` removes it\n",
			reg.ID, strings.Join(reg.Events, ", "), reg.ID)
	default:
		e.Out.Print("hook %s is no longer served from here\n", reg.ID)
	}
}
