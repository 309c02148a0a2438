package nats

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// owned returns the session with an id of an agent. name is the agent's full name, or its last part
// as in a freeze order; empty means the only owner. With a full name, the session may be unknown.
func (s *Server) owned(ctx context.Context, name, id string) (session.State, error) {
	if strings.Contains(name, " ") { // a full name, as in records
		list, err := s.opts.Sessions.Find(ctx, name, id)
		if err != nil {
			return session.State{}, err
		}
		return list[0], nil
	}
	list, err := s.owners(ctx, id)
	if err != nil {
		return session.State{}, err
	}
	if name != "" {
		list = slices.DeleteFunc(list, func(state session.State) bool { return !freeze.Order{Agent: name}.Covers(state.Sender, "") })
	}
	switch len(list) {
	case 0:
		return session.State{}, wire.Errorf(wire.NotFound, "no session %q of an agent %q is known: name the agent as records do, such as \"nats agent/coder\"", id, name)
	case 1:
		return list[0], nil
	}
	return session.State{}, wire.Errorf(wire.Conflict, "%d agents use a session %q: name one of them, %s", len(list), id, senders(list))
}

// owners returns the session with an id of each agent that has one: with a state, labels, a
// lineage, or a grant beyond the session. If there is none, it returns an empty one without a
// sender.
func (s *Server) owners(ctx context.Context, id string) ([]session.State, error) {
	list, err := s.opts.Sessions.Find(ctx, "", id)
	if err != nil {
		return nil, err
	}
	wider, err := s.opts.Sessions.Scoped(ctx, "")
	if err != nil {
		return nil, err
	}
	known := func(sender string) bool {
		return slices.ContainsFunc(list, func(state session.State) bool { return state.Sender == sender })
	}
	add := func(sender string) {
		if !known(sender) {
			list = append(list, session.State{Session: id, Sender: sender})
		}
	}
	for _, state := range wider {
		if slices.ContainsFunc(state.Grants, func(g session.Grant) bool { return g.Session == id }) {
			add(state.Sender)
		}
	}
	labeled := s.opts.Registry.Senders(id)
	for _, sender := range labeled {
		add(sender)
	}
	if first := list[0]; len(list) > 1 && first.Sender == "" && first.Empty() && !slices.Contains(labeled, "") {
		list = list[1:]
	}
	return list, nil
}

// senders returns the senders of sessions, for an error.
func senders(list []session.State) string {
	names := make([]string, len(list))
	for i, state := range list {
		names[i] = strconv.Quote(state.Sender)
	}
	return strings.Join(names, " or ")
}
