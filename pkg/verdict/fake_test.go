package verdict_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// noon is when the events of the tests happen, in a zone that is not UTC.
var noon = time.Date(2026, 3, 1, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))

const noonUTC = "2026-03-01T12:00:00.123456Z"

// event is what the hooks of the tests are asked about.
var event = events.Event{Name: events.ToolPost, Session: "s", Data: json.RawMessage(`{"n":1}`)}

// hook is a hook that answers with the bytes of a reply.
type hook struct {
	name, reply string
	err         error
	closed      bool // its failures deny
}

// run runs a chain of hooks whose ids are a, b, c ….
func run(t *testing.T, hooks ...hook) chain.Outcome {
	t.Helper()
	var entries []*chain.Entry
	for i, h := range hooks {
		reg := chain.Registration{ID: string(rune('a' + i)), Name: h.name}
		if h.closed {
			reg.OnFailure = chain.FailClosed
		}
		entries = append(entries, &chain.Entry{Registration: reg, Hook: func(context.Context, events.Event) (chain.Result, error) {
			if h.err != nil {
				return chain.Result{}, h.err
			}
			return chain.ParseResult([]byte(h.reply))
		}})
	}
	out, err := chain.Run(t.Context(), entries, event, chain.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inject is the reply of a hook that injects text; more are further members.
func inject(text, more string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"action":"inject_context","context_injection":` + string(quoted) + more + `}`
}
