package evaluate

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Answer is what one hook of a recorded chain answered, or how it failed. It travels
// to a worker's process as JSON.
type Answer struct {
	ID         string          `json:"id"`
	Action     chain.Action    `json:"action,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"` // what it made of the data; nil: it left it
	Injection  string          `json:"injection,omitempty"`
	Labels     []string        `json:"labels,omitempty"` // that it set
	Failure    chain.Failure   `json:"failure,omitempty"`
	Error      string          `json:"error,omitempty"`
	FailedOpen bool            `json:"failed_open,omitempty"`

	changes []operation
	// unknown is set if Injection is not the original text, because it was masked or is not in the
	// log.
	unknown bool
}

// operation is the part of a JSON Patch operation that says which members it affects.
type operation struct {
	Path string `json:"path"`
	From string `json:"from"`
}

// notRecorded replaces a text that is not in the log.
const notRecorded = "(not in the log)"

// answerOf reads the record of a hook. refusal is set if the log does not have the data that the
// hook returned.
func answerOf(r *query.Record) (a Answer, masked bool, refusal *Undecided) {
	a = Answer{ID: r.Hook, Reason: r.Reason, Failure: chain.Failure(r.Failure), Error: r.Error, FailedOpen: r.FailedOpen, Labels: r.Labels}
	if a.Failure == "" {
		a.Action = chain.Action(r.Action)
	}
	if r.Data != nil && slices.Contains([]chain.Action{chain.Modify, chain.AskUser, chain.InjectContext}, a.Action) {
		if !isObject(r.Data.Value) {
			return a, false, missing(r.Data, "what "+r.Hook+" made of its data")
		}
		a.Data, masked = r.Data.Value, r.Data.Redacted
		if err := json.Unmarshal(r.Changes, &a.changes); err != nil {
			a.changes = []operation{{}} // as if it had changed everything
		}
	}
	if i := r.Injection; i != nil {
		a.unknown = i.Redacted
		text, err := jsontext.AppendUnquote(nil, i.Value)
		if a.Injection = string(text); err != nil || len(text) == 0 {
			a.Injection, a.unknown = notRecorded, true
		}
	}
	return a, masked, nil
}

func isObject(value json.RawMessage) bool { return jsontext.Value(value).Kind() == '{' }

// missing returns why the log does not have a value.
func missing(d *query.Data, what string) *Undecided {
	if d != nil && d.Omitted > 0 {
		return &Undecided{Reason: "omitted: " + what + " was too large for the log"}
	}
	return &Undecided{Reason: "digest only: the log does not hold " + what + " (the router ran with --audit-data=digest)"}
}

// gatherer collects the records of each chain. It is used by one goroutine.
type gatherer struct {
	open  map[string]*Recording // the last record has not arrived yet
	order []string              // ids in open, oldest first; some may be complete already
}

// maxOpen bounds the number of incomplete chains, most of which belong to routers that died.
const maxOpen = 4096

// add adds a record, and returns the chain that it completes, or nil.
func (g *gatherer) add(r *query.Record) *Recording {
	switch r.Kind {
	case audit.HookResult, audit.HookError, audit.HookTimeout:
		if r.Shadow || r.ChainID == "" {
			return nil
		}
		c := g.chain(r)
		a, masked, refusal := answerOf(r)
		c.Answers, c.Masked = append(c.Answers, a), c.Masked || masked
		c.refuse(refusal)
	case audit.ChainResult:
		c := g.chain(r)
		delete(g.open, r.ChainID)
		c.finish(r)
		return c
	default:
	}
	return nil
}

func (g *gatherer) chain(r *query.Record) *Recording {
	if c := g.open[r.ChainID]; c != nil {
		return c
	}
	c := &Recording{ID: r.ChainID, Session: r.Session, Event: r.Event}
	g.open[r.ChainID] = c
	g.order = append(g.order, r.ChainID)
	for len(g.open) > maxOpen || len(g.order) > 2*maxOpen {
		delete(g.open, g.order[0])
		g.order = g.order[1:]
	}
	return c
}
