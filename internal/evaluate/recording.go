package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Recording is one run of a chain as the log tells it.
type Recording struct {
	ID      string
	Session string
	Event   string
	EventID string
	Agent   string    // the CloudEvents source
	Time    time.Time // of its record
	Emitter string    // who sent it, as the connection proved
	Root    string    // of the tree of sub-agents; empty: the session
	Depth   int       // how many sessions were above its own
	Labels  []string  // of the session before the hooks; those that hooks set again count as new

	// Data is what the first hook got, as far as the log can tell.
	Data json.RawMessage
	// Answers are those of the hooks whose answers counted, in execution order.
	Answers []Answer
	// Masked says that in some value a secret was masked.
	Masked bool

	refusal *Undecided // why it can't be replayed
}

// Undecided is why nothing is known of what hooks would decide of an event or a chain.
type Undecided struct {
	Reason string `json:"reason"`           // the same for all chains that it concerns
	Detail string `json:"detail,omitempty"` // of this one
}

// Error implements error.
func (r *Undecided) Error() string {
	if r.Detail == "" {
		return r.Reason
	}
	return r.Reason + " (" + r.Detail + ")"
}

// Refused is why the chain can't be replayed; nil where it can.
func (c *Recording) Refused() *Undecided { return c.refusal }

// finish makes the chain complete with its last record.
func (c *Recording) finish(r *query.Record) {
	c.EventID, c.Agent, c.Time = r.EventID, r.Agent, r.Time
	c.Emitter, c.Root, c.Depth, c.Labels = r.Emitter, r.Root, r.Depth, events.NewLabels(c.added(), r.Labels)
	if c.refuse(c.incomplete(r)); c.refusal != nil {
		return
	}
	in, err := events.ParseObject(r.In.Value)
	if err != nil {
		c.refuse(&Undecided{Reason: "unreadable: its data is not what a router takes", Detail: err.Error()})
		return
	}
	c.Masked = c.Masked || r.In.Redacted
	left, changes := c.left()
	if left == nil && r.Out != nil { // no hook changed it
		left, c.Masked = r.Out.Value, c.Masked || r.Out.Redacted
	}
	c.Data = c.start(in, left, changes, r.Time.Add(-time.Duration(r.Micros)*time.Microsecond))
}

// incomplete is why the records of a chain are not enough, nil where they are.
func (c *Recording) incomplete(r *query.Record) *Undecided {
	asked := slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Action == chain.AskUser })
	switch {
	case r.Action == "collect":
		return &Undecided{Reason: "collect: all hooks were asked at once, and nothing was decided"}
	case r.Action == "deadline":
		return &Undecided{Reason: "deadline: the time of the chain was over, and nothing was decided"}
	case r.In == nil || !isObject(r.In.Value):
		return missing(r.In, "its data")
	case r.ApprovalID != "" && !asked:
		return &Undecided{Reason: "sent again: it joined an approval request, and no hook ran"}
	case c.called() < r.Called || r.DeniedBy != "" && c.last() != r.DeniedBy:
		return &Undecided{Reason: "incomplete: records of its hooks are missing", Detail: fmt.Sprintf("%d of %d are there", c.called(), r.Called)}
	}
	return nil
}

// refuse notes the first reason; nil is none.
func (c *Recording) refuse(r *Undecided) {
	if c.refusal == nil && r != nil {
		c.refusal = r
	}
}

// called is how many hooks got the event.
func (c *Recording) called() (n int) {
	for _, a := range c.Answers {
		if a.Failure != chain.FailedMatch && a.Failure != chain.FailedNoResponder {
			n++
		}
	}
	return n
}

// added are the labels that hooks set.
func (c *Recording) added() (labels []string) {
	for _, a := range c.Answers {
		labels = append(labels, a.Labels...)
	}
	return labels
}

// last is the id of the last hook.
func (c *Recording) last() string {
	if len(c.Answers) == 0 {
		return ""
	}
	return c.Answers[len(c.Answers)-1].ID
}

// start is the data as the first hook got it: over the agent's default fields, with the router's
// time in it. What the hooks left, besides what they changed, tells both; else the session's id,
// which agents send so, and the time of the record.
func (c *Recording) start(in events.Object, left json.RawMessage, changes []operation, came time.Time) json.RawMessage {
	below, stamp := c.below(in, left, changes)
	stamp = cmp.Or(stamp, events.Stamp(came))
	return in.Over(below, stamp)
}

// left is what the first modifying hook made of the data, and what it changed for that; nil for
// none.
func (c *Recording) left() (data json.RawMessage, changes []operation) {
	for _, a := range c.Answers {
		if _, err := events.ParseObject(a.Data); a.Data != nil && err == nil {
			return a.Data, a.changes
		}
	}
	return nil, nil
}

func (c *Recording) below(in events.Object, left json.RawMessage, changes []operation) (below events.Object, stamp string) {
	if made, err := events.ParseObject(left); left != nil && err == nil {
		var fields []byte
		for name, raw := range made.All() {
			if touches(changes, name) {
				continue
			}
			if _, sent := in.Get(name); name == "timestamp" {
				stamp, _ = made.GetString(name)
			} else if !sent {
				fields = appendMember(fields, name, raw)
			}
		}
		return object(fields), stamp
	}
	if c.Session == "" {
		return events.Object{}, ""
	}
	session, _ := jsontext.AppendQuote(nil, c.Session) // what is no UTF-8 is replaced
	return object(appendMember(nil, "session_id", session)), ""
}

// touches reports whether a patch has to do with a member of the top level.
func touches(changes []operation, name string) bool {
	pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	within := func(path string) bool {
		rest, ok := strings.CutPrefix(path, pointer)
		return ok && (rest == "" || rest[0] == '/')
	}
	return slices.ContainsFunc(changes, func(op operation) bool { return op.Path == "" || within(op.Path) || within(op.From) })
}

func appendMember(fields []byte, name string, raw []byte) []byte {
	if len(fields) > 0 {
		fields = append(fields, ',')
	}
	fields, _ = jsontext.AppendQuote(fields, name)
	return append(append(fields, ':'), raw...)
}

// object is the object with these members; without any where they do not make one.
func object(fields []byte) events.Object {
	o, err := events.ParseObject([]byte("{" + string(fields) + "}"))
	if err != nil {
		return events.Object{}
	}
	return o
}
