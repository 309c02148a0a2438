package router

import (
	"context"
	"strings"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// explain answers which hooks would run for an event, in order. It calls none.
func (r *Router) explain(_ context.Context, req *natsx.Request) error {
	name, err := r.bus.EventName("explain", req.Subject)
	if err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	body := req.Data
	if len(body) == 0 {
		body = []byte("{}")
	}
	table, err := r.registry.Table()
	if err != nil {
		return err
	}
	ev, data, err := events.Decode(name, req.Header, body)
	if err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	defaults, err := defaultFields(wire.Get(req.Header, wire.HeaderDefaults))
	if err != nil {
		return err
	}
	view := &chain.View{Event: name, Session: ev.Session, Data: data.Over(defaults, events.Now())}
	list := []chain.Explanation{}
	for _, link := range table.For(name, ev.Session) {
		list = append(list, r.explainLink(link, view))
	}
	return replyJSON(req, map[string]any{"hooks": list})
}

func (r *Router) explainLink(link *chain.Entry, view *chain.View) chain.Explanation {
	reg := link.WithDefaults()
	e := chain.Explanation{
		ID: reg.ID, Name: reg.Name, Events: reg.Events, Priority: reg.Priority, Mode: reg.Mode, Match: reg.Match,
		Matches: true, TimeoutMS: reg.TimeoutMS, OnFailure: reg.OnFailure, SessionID: reg.SessionID,
		Instances: r.registry.Instances(reg.ID),
	}
	if link.Condition != nil {
		var err error
		if e.Matches, err = link.Condition(view); err != nil {
			e.MatchError = err.Error()
		}
	}
	return e
}

// patternOf turns the tail of a subject into a pattern: "tool.*" into "tool:*".
func patternOf(tail string) string { return strings.ReplaceAll(tail, ".", ":") }
