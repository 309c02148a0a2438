package agents

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// unserved names the guards that no worker serves. The router denies every event that they guard.
// The probe can't find them, because no guard matches its event.
func (h hooks) unserved(ctx context.Context, e *cli.Env, d agenthook.Dialect, list *findings) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	registered, guards, err := h.guards(ctx, e)
	if err != nil {
		list.say("note", "whether workers serve the guards is not known: hookctl can't ask the router for them")
		return
	}
	asks := func(patterns []string) bool {
		return slices.ContainsFunc(d.Events, func(event agenthook.Event) bool {
			return event.Gated() && slices.ContainsFunc(patterns, func(p string) bool { return events.Match(p, event.Name) })
		})
	}
	var absent []string
	for _, g := range guards {
		if is := func(l agent.Listing) bool { return l.ID == g.ID }; asks(g.Events) && !slices.ContainsFunc(registered, is) {
			absent = append(absent, term.Printable(g.ID))
		}
	}
	for _, l := range registered {
		if l.OnFailure == chain.FailClosed && l.Enforced() && l.SessionID == "" && l.Disabled == nil && len(l.Instances) == 0 && asks(l.Events) {
			absent = append(absent, term.Printable(l.ID))
		}
	}
	if len(absent) > 0 {
		list.say("fail", "no worker serves %s: what they guard is denied until hook-worker runs", strings.Join(absent, ", "))
	}
}

// guards returns the registrations and the pinned guards of the router that the hooks call. It uses
// the operator's credentials only for the operator's server: a project's settings may name another.
func (h hooks) guards(ctx context.Context, e *cli.Env) (registered []agent.Listing, guards []pinned.Listing, err error) {
	o := natsx.Options{Name: "hookctl", Role: "admin", Getenv: e.Getenv}
	for _, arg := range h.args {
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "--server":
			o.URL = value
		case "--prefix":
			o.Prefix = value
		}
	}
	if o.URL == "" || o.URL == e.Server {
		o.Creds = e.Creds
	}
	bus, err := natsx.ConnectContext(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer bus.Close()
	for subject, list := range map[string]any{"registry": &registered, "guards": &guards} {
		reply, err := bus.Request(ctx, bus.Of(subject), nil, nil)
		if err == nil {
			err = json.Unmarshal(reply.Data, list)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return registered, guards, nil
}
