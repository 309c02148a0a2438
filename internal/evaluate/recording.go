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
	if c.refuse(c.incomplete(r)); c.refusal != nil {
		return
	}
	in, err := events.ParseObject(r.In.Value)
	if err != nil {
		c.refuse(&Undecided{Reason: "unreadable: its data is not what a router takes", Detail: err.Error()})
		return
	}
	c.Masked = c.Masked || r.In.Redacted
	c.Data = c.start(in, r.Time.Add(-time.Duration(r.Micros)*time.Microsecond))
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

// last is the id of the last hook.
func (c *Recording) last() string {
	if len(c.Answers) == 0 {
		return ""
	}
	return c.Answers[len(c.Answers)-1].ID
}

// start is the data as the first hook got it: over the agent's default fields, with
// the router's time in it. What the first modifying hook returned and did not change
// tells both; else the session's id, which agents send so, and the time of the record.
func (c *Recording) start(in events.Object, came time.Time) json.RawMessage {
	below, stamp := c.below(in)
	stamp = cmp.Or(stamp, events.Stamp(came))
	return in.Over(below, stamp)
}

func (c *Recording) below(in events.Object) (below events.Object, stamp string) {
	for _, a := range c.Answers {
		made, err := events.ParseObject(a.Data)
		if a.Data == nil || err != nil {
			continue
		}
		var fields []byte
		for name, raw := range made.All() {
			if touches(a.changes, name) {
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
