package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ShowCmd is `hookctl audit show`.
type ShowCmd struct {
	ID       string `arg:"" optional:"" help:"Id of a chain, an event, an approval request or a session."`
	EventID  string `name:"event-id" placeholder:"ID" help:"The chains of this event instead."`
	Approval string `placeholder:"ID" help:"The chains of this approval request instead."`
}

// Run shows a chain, the chains of an event or an approval request, or the last denied chain of a
// session.
func (c *ShowCmd) Run(ctx context.Context, e *cli.Env) error {
	given := 0
	for _, id := range [...]string{c.ID, c.EventID, c.Approval} {
		if id != "" {
			given++
		}
	}
	if given != 1 {
		return errors.New("show which chain: give its id, or one of --event-id and --approval; `hookctl audit query` finds them")
	}
	l, _, err := e.AuditLog(ctx)
	if err != nil {
		return err
	}
	var ids []string
	if c.ID == "" {
		ids, err = l.ChainsOf(ctx, query.Filter{EventID: c.EventID, Approval: c.Approval})
	} else {
		ids, err = chainsOf(ctx, e, l, c.ID)
	}
	for i := 0; err == nil && i < len(ids); i++ {
		var found *query.Chain
		if found, err = l.Chain(ctx, ids[i]); err == nil {
			if i > 0 && !e.Out.JSON {
				e.Out.Print("\n")
			}
			printChain(e.Out, newChainView(found))
		}
	}
	if errors.Is(err, query.ErrNoChain) {
		return fmt.Errorf("show %s: %w: it was not recorded, or in a segment that was removed; `hookctl audit query --since 1h` shows what there is",
			term.Printable(c.ID+c.EventID+c.Approval), err)
	}
	return err
}

// chainsOf returns the chains that an id names, oldest first. For a session it returns only the
// most significant one.
func chainsOf(ctx context.Context, e *cli.Env, l *query.Log, id string) ([]string, error) {
	found, err := l.Find(ctx, id, e.WholeLog)
	if err != nil {
		return nil, err
	}
	if found.Kind == query.OfSession {
		if n := len(found.Chains) - 1; n > 0 {
			e.Tell("the session has more chains than this one; `hookctl audit query --session` lists their records")
		}
		return found.Chains[:1], nil
	}
	slices.Reverse(found.Chains)
	return found.Chains, nil
}

// chainView is the JSON form of a chain, and the source of the text output.
type chainView struct {
	ChainID    string            `json:"chain_id"`
	EventID    string            `json:"event_id,omitempty"`
	Event      string            `json:"event,omitempty"`
	Session    string            `json:"session_id,omitempty"`
	Agent      string            `json:"agent,omitempty"`
	Action     string            `json:"action,omitempty"`
	Reason     string            `json:"reason,omitempty"`
	DeniedBy   string            `json:"denied_by,omitempty"`
	Refused    bool              `json:"refused,omitempty"` // the agent got an error instead
	FailedOpen []string          `json:"failed_open,omitempty"`
	Hooks      []hookView        `json:"hooks"`
	Changes    []jsonedit.Change `json:"changes,omitempty"` // from what came in to what went out
	Approvals  []approvalView    `json:"approvals,omitempty"`
	Records    []record          `json:"records"`
	chain      *query.Chain      `json:"-"`
	result     *query.Record     `json:"-"` // the chain's end; nil: the log does not have it
}

// hookView is what one hook did.
type hookView struct {
	Hook       string            `json:"hook"`
	Kind       string            `json:"kind"`
	Action     string            `json:"action,omitempty"`
	Reason     string            `json:"reason,omitempty"`
	Policy     string            `json:"policy,omitempty"`
	Failure    string            `json:"failure,omitempty"`
	FailedOpen bool              `json:"failed_open,omitempty"`
	Shadow     bool              `json:"shadow,omitempty"`
	Started    string            `json:"started,omitempty"`
	Micros     int64             `json:"us"`
	Changes    []jsonedit.Change `json:"changes,omitempty"`

	record query.Record
}

func newChainView(c *query.Chain) *chainView {
	s := &chainView{ChainID: c.ID, chain: c, Hooks: []hookView{}}
	for _, r := range c.Records {
		s.Records = append(s.Records, placed(r))
	}
	first := c.Records[0]
	s.EventID, s.Event, s.Session = first.EventID, first.Event, first.Session
	if s.result = c.Result(); s.result == nil {
		s.result = c.Refused()
	}
	s.Refused = c.Refused() != nil
	var before *query.Data // the input of the next hook
	if r := s.result; r != nil {
		s.Agent, s.Action, s.Reason, s.DeniedBy, before = r.Agent, r.Action, r.Reason, r.DeniedBy, r.In
		if r.Out != nil {
			s.Changes = compareData(r.In, r.Out, nil)
		}
	}
	for _, r := range c.Calls() {
		call := hookView{
			Hook: r.Hook, Kind: string(r.Kind), Action: r.Action, Reason: r.Reason, Policy: r.Policy, Failure: r.Failure,
			FailedOpen: r.FailedOpen, Shadow: r.Shadow, Micros: r.Micros, record: r,
		}
		if !r.Started.IsZero() {
			call.Started = r.Started.UTC().Format(time.RFC3339Nano)
		}
		if r.Data != nil || len(r.Changes) > 0 {
			call.Changes = compareData(before, r.Data, r.Changes)
			if !r.Shadow && r.Action == string(chain.Modify) {
				before = r.Data
			}
		}
		if r.FailedOpen {
			s.FailedOpen = append(s.FailedOpen, r.Hook)
		}
		s.Hooks = append(s.Hooks, call)
	}
	s.approvals()
	return s
}

// compareData returns how data changed. It prefers the recorded changes, with the old values where
// they are known, and otherwise compares the recorded data.
func compareData(before, after *query.Data, recorded []byte) []jsonedit.Change {
	var was []byte
	if before != nil {
		was = before.Value
	}
	if list, err := readChanges(recorded); err == nil && len(list) > 0 {
		for i, c := range list {
			if c.Old == nil && c.Op != "add" && was != nil {
				list[i].Old = valueAt(was, c.Path)
			}
		}
		return list
	}
	if was == nil || after == nil || after.Value == nil {
		return nil
	}
	return jsonedit.Changes(was, after.Value)
}

// valueAt returns the value at a JSON pointer, or nil if there is none. It descends into objects
// only.
func valueAt(text []byte, pointer string) []byte {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			return text
		}
		o, ok := jsonedit.ParseObject(text)
		if !ok {
			return nil
		}
		value, ok := o.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		if !ok {
			return nil
		}
		text = value
	}
	return text
}
