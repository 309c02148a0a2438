package audit

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// FilterFlags are the flags that select records.
type FilterFlags struct {
	Session    string   `placeholder:"ID" help:"Only of this session."`
	Chain      string   `placeholder:"ID" help:"Only of this chain."`
	EventID    string   `name:"event-id" placeholder:"ID" help:"Only of this event, by its id."`
	Approval   string   `placeholder:"ID" help:"Only about this approval request."`
	Event      string   `placeholder:"NAME" help:"Only of events of this name, or that match tool:*."`
	Hook       string   `placeholder:"ID" help:"Only of this hook."`
	Action     string   `placeholder:"ACTION" help:"Only with this action, such as deny."`
	Kind       []string `placeholder:"KIND" help:"Only of these kinds, such as chain.result or hook.*; comma-separated."`
	FailedOpen bool     `help:"Only where a hook failed open."`
	cli.Period
	Until string `placeholder:"TIME" help:"Only before this time."`
}

// Filter parses the flags. It rejects values that no record can have, and warns about an event that
// is probably misspelt.
func (f FilterFlags) Filter(e *cli.Env, now time.Time) (query.Filter, error) {
	out := query.Filter{
		Session: f.Session, Chain: f.Chain, Hook: f.Hook, Event: f.Event, Action: f.Action,
		EventID: f.EventID, Approval: f.Approval, FailedOpen: f.FailedOpen,
	}
	if f.Event != "" {
		if err := events.CheckPattern(f.Event); err != nil {
			return out, err
		}
		e.CheckSpelling(f.Event)
	}
	if err := checkAction(f.Action); err != nil {
		return out, err
	}
	for _, kind := range f.Kind {
		if err := checkKind(kind); err != nil {
			return out, err
		}
		out.Kinds = append(out.Kinds, audit.Kind(kind))
	}
	var err error
	if out.Since, err = f.From(now); err != nil {
		return out, err
	}
	if out.Until, err = cli.Moment("--until", f.Until, now); err != nil {
		return out, err
	}
	if !out.Since.IsZero() && !out.Until.IsZero() && !out.Since.Before(out.Until) {
		return out, fmt.Errorf("--since %s is not before --until %s", cmp.Or(f.Since, f.Last), f.Until)
	}
	return out, nil
}
