package server

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/api/console"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// decided is a decided approval request in the console's history.
type decided struct {
	ID        string `json:"id"`
	Time      string `json:"time"`
	Granted   bool   `json:"granted"`
	Hook      string `json:"hook"`
	Event     string `json:"event"`
	Session   string `json:"session_id"`
	ChainID   string `json:"chain_id"`
	Prompt    string `json:"prompt"`
	Option    string `json:"option,omitempty"`
	DecidedBy string `json:"decided_by"`
	ClaimedBy string `json:"claimed_by,omitempty"`
	Note      string `json:"note,omitempty"`
	TimedOut  bool   `json:"timed_out,omitempty"`
}

// Decisions returns the history for the console.
func (s scanned) Decisions(ctx context.Context, q console.Query) ([]byte, error) {
	ctx, l, done, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	f := filter(q)
	f.Kinds = []audit.Kind{audit.ApprovalDecided}
	by := strings.ToLower(q.By)
	var records []query.Record
	whole, err := within(ctx, func(ctx context.Context) (err error) {
		records, err = l.Decisions(ctx, f, q.Limit+1, func(r *query.Record) bool {
			return r.Err == nil && (strings.Contains(strings.ToLower(r.DecidedBy), by) || strings.Contains(strings.ToLower(r.ClaimedBy), by))
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	body := struct {
		Decisions []decided `json:"decisions"`
		More      bool      `json:"more,omitempty"`
		Partial   bool      `json:"partial,omitempty"`
	}{[]decided{}, len(records) > q.Limit, !whole}
	for _, r := range records[:min(len(records), q.Limit)] {
		d := decided{
			r.ApprovalID, stamp(r.Time), r.Granted, r.Hook, r.Event, r.Session, r.ChainID, r.Prompt, r.Option,
			r.DecidedBy, r.ClaimedBy, r.Note, r.TimedOut,
		}
		s.n.maskTexts(&d.Prompt, &d.Option, &d.Note, &d.ClaimedBy)
		body.Decisions = append(body.Decisions, d)
	}
	return json.Marshal(body)
}

func filter(q console.Query) query.Filter {
	return query.Filter{Session: q.Session, Event: q.Event, Hook: q.Hook, Action: q.Action, Since: q.Since, Until: q.Until}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
