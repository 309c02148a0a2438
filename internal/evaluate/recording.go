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

// Recording is one run of a chain, as recorded in the log.
type Recording struct {
	ID      string
	Session string
	Event   string
	EventID string
	Agent   string    // the CloudEvents source
	Time    time.Time // of its record
	Emitter string    // the sender, as proven by the connection
	Root    string    // of the tree of sub-agents; empty means the session itself
	Depth   int       // the number of ancestors of the session
	Labels  []string  // of the session before the hooks ran; a label that a hook set again counts as new

	// Data is the input of the first hook, as far as the log has it.
	Data json.RawMessage
	// Answers are the answers that counted, in execution order of the hooks.
	Answers []Answer
	// Masked is set if a secret was masked in some value.
	Masked bool

	refusal *Undecided // why it can't be replayed
}

// Undecided says why the hooks' decision on an event or a chain is unknown.
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

// Refused returns why the chain can't be replayed, or nil if it can.
func (c *Recording) Refused() *Undecided { return c.refusal }

// finish completes the chain with its last record.
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
	if left == nil && r.Out != nil { // no hook changed the data
		left, c.Masked = r.Out.Value, c.Masked || r.Out.Redacted
	}
	c.Data = c.start(in, left, changes, r.Time.Add(-time.Duration(r.Micros)*time.Microsecond))
}

// incomplete returns why the records of a chain are not sufficient, or nil if they are.
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

// refuse sets the reason why the chain can't be replayed, unless one is set; nil means none.
func (c *Recording) refuse(r *Undecided) {
	if c.refusal == nil && r != nil {
		c.refusal = r
	}
}

// called returns how many hooks received the event.
func (c *Recording) called() (n int) {
	for _, a := range c.Answers {
		if a.Failure != chain.FailedMatch && a.Failure != chain.FailedNoResponder {
			n++
		}
	}
	return n
}

// added returns the labels that hooks set.
func (c *Recording) added() (labels []string) {
	for _, a := range c.Answers {
		labels = append(labels, a.Labels...)
	}
	return labels
}

// last returns the id of the last hook.
func (c *Recording) last() string {
	if len(c.Answers) == 0 {
		return ""
	}
	return c.Answers[len(c.Answers)-1].ID
}

// start returns the input of the first hook: the incoming data on top of the agent's default
// fields, with the router's timestamp. Both are taken from the unchanged part of what the hooks
// left. Otherwise the session's id, which agents send as a default field, and the time of the
// record are used.
func (c *Recording) start(in events.Object, left json.RawMessage, changes []operation, came time.Time) json.RawMessage {
	below, stamp := c.below(in, left, changes)
	stamp = cmp.Or(stamp, events.Stamp(came))
	return in.Over(below, stamp)
}

// left returns the data that the first modifying hook returned, and what it changed, or nil if
// there is none.
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
	session, _ := jsontext.AppendQuote(nil, c.Session) // replaces invalid UTF-8
	return object(appendMember(nil, "session_id", session)), ""
}

// touches reports whether a patch affects a top-level member.
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

// object returns an object with these members, or an empty one if they do not form an object.
func object(fields []byte) events.Object {
	o, err := events.ParseObject([]byte("{" + string(fields) + "}"))
	if err != nil {
		return events.Object{}
	}
	return o
}
