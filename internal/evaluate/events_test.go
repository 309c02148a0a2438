package evaluate_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/evaluate"
)

// through runs a file of events through the hooks and returns the report.
func through(t *testing.T, events string, json bool) (string, error) {
	t.Helper()
	var out bytes.Buffer
	r := &evaluate.Report{Out: term.NewPrinter(&out, json, false, false)}
	err := evaluate.Events(t.Context(), "e.jsonl", strings.NewReader(events), loader(strings.TrimSuffix(hooks, "tests:\n")), evaluate.Options{}, r.Add)
	if err != nil {
		return "", err
	}
	err = r.End()
	return out.String(), err
}

func TestEventsOfAllForms(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
        - guard: modify (w.yaml:19, rules[5])
            /tool_input/command: "quiet" -> "quiet -s"
        - tried (shadow): deny: tried (w.yaml:24, rules[0])
        - watcher (observe): told (not called here)
e.jsonl:2  a:count  -  continue
        - watcher (observe): skipped (its match does not hold)
        - counter: continue
e.jsonl:3  a:count  -  continue
        - watcher (observe): skipped (its match does not hold)
        - counter: continue
e.jsonl:4  a:count  -  deny by counter: the third
        - watcher (observe): skipped (its match does not hold)
        - counter: deny: the third
e.jsonl:5  tool:pre  -  deny by guard: hook "guard" failed (error) and its on_failure is deny
        hook guard failed: error: cel.rules[1].deny: no such key: nothing: ask first whether it is there, like has(data.x)
        - guard: failed: error: cel.rules[1].deny: no such key: nothing: ask first whether it is there, like has(data.x) (w.yaml:11, rules[1])
        - tried (shadow): not reached
        - watcher (observe): told (not called here)
e.jsonl:6  a:command  -  not decided
        hook command acts in the world, so that it was not called: say replay_safe: true of it where that does no harm, or --run-all
        - watcher (observe): not reached
        - command: not called (it acts in the world)
6 events, 2 failed
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	got, err = through(t, strings.SplitAfter(events, "\n")[0], true)
	want = `{"kind":"event","file":"e.jsonl","line":1,"name":"tool:pre","ok":true,"verdict":{"action":"modify","by":"guard","data":{"tool_name":"Bash","tool_input":{"command":"quiet -s"},"timestamp":"2026-02-01T08:00:00.000000Z"},` +
		`"hooks":[{"id":"guard","did":"modify","why":"w.yaml:19, rules[5]","changes":[{"op":"replace","path":"/tool_input/command","value":"quiet -s","old":"quiet"}]},` +
		`{"id":"tried","mode":"shadow","did":"deny","reason":"tried","why":"w.yaml:24, rules[0]"},{"id":"watcher","mode":"observe","did":"told","why":"not called here"}]},"event":"tool:pre","session_id":"s1"}
{"kind":"summary","tests":1,"failed":0}
`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("report (-want +got):\n%s%v", diff, err)
	}
}

func TestInvalidEventIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]string{
		`{"event":"a b"}`:                      `event name "a b": a part is`,
		`{"event":"a:b","sesion_id":"x"}`:      `an event has no member "sesion_id": it has event, session_id, data`,
		`{"event":7}`:                          `event must be a text`,
		`{"event":"a:b","data":[]}`:            `data must be a JSON object`,
		`{"event":"a:b","time":"today"}`:       `time must be a time such as`,
		`{"data":{}}`:                          `the event has no name: give it, such as "event":"tool:pre"`,
		`{"specversion":"1.0","id":"1"}`:       `the event has no name: give it, such as`,
		`{"specversion":"1.0","type":"a:b"}`:   `the CloudEvent is not valid: `,
		`[{"event":"a:b"}]`:                    `the line must be a JSON object, not an array: write each event whole on one line, as a JSON object (jq -c '.[]' does)`,
		`{"event":"a:b"`:                       `the line is not JSON: unexpected EOF at byte 14: write each event whole on one line, as a JSON object (jq -c . does)`,
		`{"hookrouter_audit_export":1}`:        `an event has no member "hookrouter_audit_export"`,
		`{"event":"a:b"}` + ` {"event":"b"}`:   `the line must be one JSON object: something follows it: write each event`,
		`{"event":"` + "\xff" + `"}`:           `the line is not JSON: `,
		strings.Repeat(" ", 64<<20) + `{"e":1`: `the line has more than 64 MiB`,
	} {
		_, err := through(t, "\r\n"+event+"\r\n", false)
		wrong, ok := errors.AsType[*evaluate.ReadError](err)
		if !ok || !strings.HasPrefix(wrong.Error(), "e.jsonl:2: "+want) || wrong.File != "e.jsonl" || wrong.Line != 2 {
			t.Errorf("%.99s: %v; want %s", event, err, want)
		}
	}
}

func TestAFileWithoutEventsIsAnError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "e.jsonl: there are no events in it: write one a line",
		"\ufeff\r\n\r\n":                "e.jsonl: there are no events in it",
		`{"kind":"result"}`:             "e.jsonl: there are no events in it",
		`{"hookrouter_audit_export":9}`: "e.jsonl: line 1 of the export: ",
	} {
		if _, err := through(t, text+"\n", false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

func TestAFileOfAnotherEditorIsRead(t *testing.T) {
	t.Parallel()
	long := `{"event":"a:long","data":{"x":"` + strings.Repeat("x", 5<<20) + `"}}`
	got, err := through(t, "\ufeff"+`{"event":"b:c"}`+"\r\n\r\n"+long, false)
	want := "e.jsonl:1  b:c  -  continue\n        - watcher (observe): skipped (its match does not hold)\n" +
		"e.jsonl:3  a:long  -  continue\n        - watcher (observe): skipped (its match does not hold)\n2 events, 0 failed\n"
	if err != nil || got != want {
		t.Errorf("report %q, %v; want %q", got, err, want)
	}
}

// The events of an export are numbered: its lines are records.
func TestEventsOfAnExportAreNumbered(t *testing.T) {
	t.Parallel()
	var out, junit bytes.Buffer
	r := &evaluate.Report{Out: term.NewPrinter(&out, false, false, false)}
	in := bytes.NewReader(export(t, []any{`{"kind":7}`, ended("c1", "continue", 0)}, []any{ended("c2", "continue", 0)}))
	err := errors.Join(evaluate.Events(t.Context(), "e.jsonl", in, loader(strings.TrimSuffix(hooks, "tests:\n")), evaluate.Options{}, r.Add), r.JUnit(&junit))
	for _, want := range []string{"e.jsonl#1  tool:pre  s1  ", "e.jsonl#2  tool:pre  s1  "} {
		if err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("report %s, %v; want %q", &out, err, want)
		}
	}
	if text := junit.String(); !strings.Contains(text, `name="event 2: tool:pre"`) || strings.Contains(text, "line=") {
		t.Errorf("JUnit is\n%s", text)
	}
}

func TestReportNamesAnEventThatNoHookWants(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := &evaluate.Report{Out: term.NewPrinter(&out, false, false, false)}
	err := evaluate.Events(t.Context(), "-", strings.NewReader(`{"event":"tool:pree"}`), loader("hooks:\n  - {id: a, events: ['tool:pre'], cel: {rules: [{deny: a}]}}\n"), evaluate.Options{}, r.Add)
	if want := "-:1  tool:pree  -  continue\n        - no hook of the file wants this event\n"; err != nil || out.String() != want {
		t.Errorf("report %q, %v; want %q", &out, err, want)
	}
}

// CI systems keep the output, so secrets are masked.
func TestReportMasksSecretsInChanges(t *testing.T) {
	t.Parallel()
	const key = "AKIAQ3EGWXYZ7TNB5KLM"
	var out bytes.Buffer
	r := &evaluate.Report{Out: term.NewPrinter(&out, false, false, false)}
	err := evaluate.Events(t.Context(), "-", strings.NewReader(`{"event":"tool:post","data":{"tool_name":"Bash","tool_output":"`+key+`","gone":1}}`),
		loader("hooks:\n  - {id: a, events: ['tool:post'], cel: {rules: [{modify: {set: {tool_output: \"'none'\", x: '1'}, remove: [gone]}}]}}\n"), evaluate.Options{}, r.Add)
	if err != nil || strings.Contains(out.String(), key) || !strings.Contains(out.String(), `-> "none"`) ||
		!strings.Contains(out.String(), "            /x: new: 1\n") || !strings.Contains(out.String(), "            /gone: removed, was 1\n") {
		t.Errorf("report %s, %v", &out, err)
	}
}

func TestEventsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe() // which never has data
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := evaluate.Events(ctx, "-", in, loader(strings.TrimSuffix(hooks, "tests:\n")), evaluate.Options{}, func(evaluate.Result) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Events = %v; want %v", err, context.Canceled)
	}
}

// FuzzEvents reads arbitrary input.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"event":"tool:pre","session_id":"s1","time":"2026-02-01T20:00:00Z","data":{"tool_name":"Bash"}}`))
	f.Add([]byte(`{"specversion":"1.0","id":"1","source":"/a","type":"a:b","data":{}}` + "\n" + `{"kind":"result"}`))
	f.Add([]byte(`{"hookrouter_audit_export":1,"origin":"a","first":1,"prefix":"hooks"}` + "\n{}"))
	load := loader("hooks:\n  - {id: a, events: ['*'], cel: {rules: [{when: 'now < now', deny: a}]}}\n")
	f.Fuzz(func(t *testing.T, text []byte) {
		err := evaluate.Events(t.Context(), "-", bytes.NewReader(text), load, evaluate.Options{}, func(r evaluate.Result) error {
			if r.OK && (r.Verdict == nil || r.Verdict.Action != "continue") {
				t.Errorf("decided %+v", r)
			}
			return nil
		})
		if _, ok := errors.AsType[*evaluate.ReadError](err); err != nil && !ok {
			t.Errorf("Events = %v", err)
		}
	})
}
