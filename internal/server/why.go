package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/why"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// why explains the decision that an id names, for the console. It never reads the whole log:
// hookctl does, in a process that decides no events.
func (n *Server) why(ctx context.Context, id string) ([]byte, error) {
	select {
	case n.lookUps <- struct{}{}:
		defer func() { <-n.lookUps }()
	default:
		return nil, wire.Errorf(wire.Overloaded, "too many look-ups are in progress: try again")
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	l, err := query.Open(ctx, n.bus)
	if err != nil {
		return nil, unreadable(err)
	}
	story, err := why.Find(ctx, l, id, nil)
	if errors.Is(err, query.ErrNoChain) {
		return nil, wire.Errorf(wire.NotFound, "the index of the audit log has nothing on this id: `hookctl why ID` reads the whole log")
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return json.Marshal(masked(n.mask, story))
}

// masked masks the secrets that a log with --audit-data=full contains.
func masked(mask redact.Masker, s why.Story) why.Story {
	texts := []*string{&s.Subject, &s.Reason, &s.Tool}
	for i := range s.Hooks {
		h := &s.Hooks[i]
		texts = append(texts, &h.Reason, &h.Error, &h.Rule)
		if len(h.Changes) > 0 {
			h.Changes, _ = mask.Object(h.Changes)
		}
	}
	for i := range s.Approval {
		texts = append(texts, &s.Approval[i].Prompt, &s.Approval[i].Note)
	}
	for _, text := range texts {
		*text, _ = mask.Text(*text)
	}
	return s
}
