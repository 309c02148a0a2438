package trial_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/trial"
)

// through runs a file of events through the hooks and returns the report.
func through(t *testing.T, events string, json bool) (string, error) {
	t.Helper()
	var out bytes.Buffer
	r := &trial.Report{Out: &out, JSON: json}
	err := trial.Events(t.Context(), "e.jsonl", strings.NewReader(events), loader(strings.TrimSuffix(hooks, "tests:\n")), trial.Options{}, r.Add)
	if err != nil {
		return "", err
	}
	err = r.End()
	return out.String(), err
}

func TestEventsOfAllForms(t *testing.T) {
	for name, c := range map[string]struct{ event, want string }{
		"by hand":              {`{"event":"tool:pre","session_id":"s1","data":{"tool_name":"Bash","tool_input":{"command":"rm"}}}`, "tool:pre  s1  deny by guard: rm is not for s1"},
		"with its session":     {`{"event":"tool:pre","data":{"session_id":"s2","tool_name":"Bash","tool_input":{"command":"rm"}}}`, "tool:pre  s2  deny by guard: rm is not for s2"},
		"of an evening":        {`{"event":"tool:pre","time":"2026-02-01T20:00:00+01:00","data":{"tool_name":"Bash","tool_input":{"command":"late"}}}`, "tool:pre  -  deny by guard: at 2026-02-01T19:00:00Z"},
		"of a morning":         {`{"event":"tool:pre","time":"2026-02-01T08:00:00Z","data":{"tool_name":"Bash","tool_input":{"command":"late"}}}`, "tool:pre  -  continue"},
		"a CloudEvent":         {`{"specversion":"1.0","id":"1","source":"/a","type":"tool:pre","subject":"s3","time":"2026-02-01T20:00:00Z","datacontenttype":"application/json","data":{"tool_name":"Bash","tool_input":{"command":"late"}}}`, "tool:pre  s3  deny by guard: at 2026-02-01T20:00:00Z"},
		"what watch has shown": {`{"kind":"event","event":"tool:pre","session_id":"s1","event_id":"e","chain_id":"c","source":"/a","time":"2026-02-01T08:00:00Z","data":{"tool_name":"Bash","tool_input":{"command":"ask"}}}`, "tool:pre  s1  ask_user by guard: Really?"},
		"without data":         {`{"event":"b:c"}`, "b:c  -  continue"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := through(t, "\n"+c.event+"\n"+`{"kind":"result","event":"tool:pre","result":{}}`+"\n", false)
			first, rest, _ := strings.Cut(got, "\n")
			if want := "e.jsonl:2  " + c.want; err != nil || first != want || !strings.HasSuffix(rest, "1 event, 0 failed\n") {
				t.Errorf("report\n%s%v; want %s", got, err, want)
			}
		})
	}
}

func TestEventsShowWhatEachHookDecided(t *testing.T) {
	const events = `{"event":"tool:pre","id":"1","session_id":"s1","time":"2026-02-01T08:00:00Z","data":{"tool_name":"Bash","tool_input":{"command":"quiet"}}}
{"event":"a:count"}
{"event":"a:count"}
{"event":"a:count"}
{"event":"tool:pre","data":{"tool_name":"Bash","tool_input":{"command":"fail"}}}
{"event":"a:command"}
`
	got, err := through(t, events, false)
	if err != nil {
		t.Fatal(err)
	}
	want := `e.jsonl:1  tool:pre  s1  modify by guard
        - guard: modify
        - tried (shadow): deny: tried
        - watcher (observe): told
e.jsonl:2  a:count  -  continue
        - watcher (observe): skipped
        - counter: continue
e.jsonl:3  a:count  -  continue
        - watcher (observe): skipped
        - counter: continue
e.jsonl:4  a:count  -  deny by counter: the third
        - watcher (observe): skipped
        - counter: deny: the third
e.jsonl:5  tool:pre  -  deny by guard: hook "guard" failed (error) and its on_failure is deny
        hook guard failed: error: evaluate rule 1: deny: match: no such key: nothing
        - guard: failed: error: evaluate rule 1: deny: match: no such key: nothing
        - tried (shadow): not reached
        - watcher (observe): told
e.jsonl:6  a:command  -  not decided
        hook command acts in the world, so that it was not called: say replay_safe: true of it where that does no harm, or --run-all
6 events, 2 failed
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	got, err = through(t, strings.SplitAfter(events, "\n")[0], true)
	want = `{"kind":"event","file":"e.jsonl","line":1,"name":"tool:pre","ok":true,"verdict":{"action":"modify","by":"guard","data":{"tool_name":"Bash","tool_input":{"command":"quiet -s"},"timestamp":"2026-02-01T08:00:00.000000Z"},` +
		`"hooks":[{"id":"guard","did":"modify"},{"id":"tried","mode":"shadow","did":"deny","reason":"tried"},{"id":"watcher","mode":"observe","did":"told"}]},"event":"tool:pre","session_id":"s1"}
{"kind":"summary","tests":1,"failed":0}
`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("report (-want +got):\n%s%v", diff, err)
	}
}

func TestWhatIsNoEventIsNamedWithItsLine(t *testing.T) {
	for event, want := range map[string]string{
		`{"event":"a b"}`:                       `read the events: line 2: event name "a b"`,
		`{"event":"a:b","sesion_id":"x"}`:       `read the events: line 2: `,
		`{"event":"a:b","data":[]}`:             `read the events: line 2: data must be a JSON object`,
		`{"event":"a:b","time":"today"}`:        `read the events: line 2: time must be a time such as`,
		`{"specversion":"1.0","type":"a:b"}`:    `read the events: line 2: `,
		`[]`:                                    `read the events: line 2: `,
		`{"event":"a:b"`:                        `read the events: line 2: `,
		`{"hookrouter_audit_export":1}`:         `read the events: line 2: `,
		`{"event":"a:b"}` + " " + `{"event":1}`: `read the events: line 2: `,
	} {
		_, err := through(t, "\n"+event+"\n", false)
		if wrong, ok := errors.AsType[*trial.ReadError](err); !ok || !strings.HasPrefix(wrong.Error(), want) {
			t.Errorf("%s: %v; want %s", event, err, want)
		}
	}
	if _, err := through(t, `{"hookrouter_audit_export":9}`+"\n", false); err == nil || !strings.HasPrefix(err.Error(), "read the events: line 1 of the export: ") {
		t.Errorf("an export of another version: %v", err)
	}
}

func TestEventsEndWithTheirContext(t *testing.T) {
	in, out := io.Pipe() // from which nothing comes
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := trial.Events(ctx, "-", in, loader(strings.TrimSuffix(hooks, "tests:\n")), trial.Options{}, func(trial.Result) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Events = %v; want %v", err, context.Canceled)
	}
}

// FuzzEvents reads whatever it is given.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"event":"tool:pre","session_id":"s1","time":"2026-02-01T20:00:00Z","data":{"tool_name":"Bash"}}`))
	f.Add([]byte(`{"specversion":"1.0","id":"1","source":"/a","type":"a:b","data":{}}` + "\n" + `{"kind":"result"}`))
	f.Add([]byte(`{"hookrouter_audit_export":1,"origin":"a","first":1,"prefix":"hooks"}` + "\n{}"))
	load := loader("hooks:\n  - {id: a, events: ['*'], cel: {rules: [{when: 'now < now', deny: a}]}}\n")
	f.Fuzz(func(t *testing.T, text []byte) {
		err := trial.Events(t.Context(), "-", bytes.NewReader(text), load, trial.Options{}, func(r trial.Result) error {
			if r.OK && (r.Verdict == nil || r.Verdict.Action != "continue") {
				t.Errorf("decided %+v", r)
			}
			return nil
		})
		if _, ok := errors.AsType[*trial.ReadError](err); err != nil && !ok {
			t.Errorf("Events = %v", err)
		}
	})
}
