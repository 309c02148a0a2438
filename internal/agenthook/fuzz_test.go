package agenthook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
)

// Whatever an agent's document is, what is said of it without a router is an answer that
// the agent can read; and a gated event that the command line names is blocked.
func FuzzDocument(f *testing.F) {
	for _, d := range agenthook.Dialects() {
		for _, e := range d.Events {
			f.Add(d.Name, e.Native, []byte(`{"`+d.EventMember+`":"`+e.Native+`","session_id":"s"}`))
		}
		f.Add(d.Name, "", []byte(`{"`+d.EventMember+`":"Stop","tool_input":{}}`))
	}
	f.Add("codex", "", []byte("{\"hook_event_name\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, dialect, native string, document []byte) {
		d, ok := agenthook.Find(dialect)
		if !ok {
			return
		}
		var notes bytes.Buffer
		h := agenthook.Hook{Dialect: d, Native: native, Notes: &notes}
		out := h.Refuse(document, errors.New("no router"))
		if len(out.Stdout) > 0 && !json.Valid(out.Stdout) {
			t.Errorf("%q is no JSON", out.Stdout)
		}
		if e, known := d.Event(native); known && e.Gated() && !blocks(out) {
			t.Errorf("%s %s: %+v; want a block", dialect, native, out)
		}
		if native == "" && !json.Valid(document) && !blocks(out) {
			t.Errorf("%s: %+v; want a block of what can't be read", dialect, out)
		}
	})
}
