package server

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// found is a record in the console's search.
type found struct {
	Time    string `json:"time"`
	Place   string `json:"place"`
	Kind    string `json:"kind"`
	Event   string `json:"event"`
	Hook    string `json:"hook,omitempty"` // that the record is about, or that denied
	Action  string `json:"action,omitempty"`
	Failure string `json:"failure,omitempty"`
	Session string `json:"session_id"`
	ChainID string `json:"chain_id"`
	Agent   string `json:"agent,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Subject string `json:"subject,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Rule    string `json:"rule,omitempty"`
}

// Search returns the results of chains for the console, or the calls of a hook if the query
// names one.
func (s scanned) Search(ctx context.Context, q console.Query) ([]byte, error) {
	if q.Event != "" {
		if err := events.CheckPattern(q.Event); err != nil {
			return nil, wire.Errorf(wire.Malformed, "event: %v", err)
		}
	}
	ctx, l, done, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	f := filter(q)
	f.Kinds = []audit.Kind{audit.ChainResult, audit.ChainRefused}
	if q.Hook != "" {
		f.Kinds = []audit.Kind{audit.HookResult, audit.HookError, audit.HookTimeout, audit.ApprovalDecided}
	}
	body := struct {
		Records []found `json:"records"`
		More    bool    `json:"more,omitempty"`
		Partial bool    `json:"partial,omitempty"`
	}{Records: []found{}}
	whole, err := within(ctx, func(ctx context.Context) error {
		return l.QueryNewest(ctx, f, func(r query.Record) error {
			if body.More = len(body.Records) == q.Limit; body.More {
				return query.ErrEnough
			}
			if r.Err == nil {
				body.Records = append(body.Records, s.foundOf(r))
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	body.Partial = !whole
	return json.Marshal(body)
}

func (s scanned) foundOf(r query.Record) found {
	f := found{
		Time: stamp(r.Time), Place: r.Place.String(), Kind: string(r.Kind), Event: r.Event, Hook: cmp.Or(r.Hook, r.DeniedBy), Action: r.Action,
		Failure: r.Failure, Session: r.Session, ChainID: r.ChainID, Agent: r.Agent, Reason: r.Reason, Rule: r.Rule,
	}
	if r.In != nil && r.In.Value != nil {
		if tool, ok := events.ToolOf(r.Event, r.In.Value); ok {
			f.Tool, f.Subject = tool.Name, tool.Subject()
		}
	}
	s.n.maskTexts(&f.Tool, &f.Subject, &f.Reason, &f.Rule)
	return f
}
