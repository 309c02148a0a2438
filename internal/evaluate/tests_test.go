package evaluate_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// loader loads a text, with an additional kind count, which denies the third event that it
// remembers.
func loader(text string) evaluate.Loader {
	return func(w kind.Worker) (*workerfile.File, error) {
		opts := basic.Kinds(w)
		opts.Kinds["count"] = kind.Of("Counts.", func(s kind.Section, _ struct{}) (kind.Hook, error) {
			return kind.Hook{Handler: func(ctx context.Context, _ events.Event) (r chain.Result, err error) {
				err = s.Worker.States.Update(ctx, "count", func(old []byte) ([]byte, error) {
					if len(old) == 2 {
						r = chain.Denial("the third")
					}
					return append(old, '+'), nil
				})
				return r, err
			}}, nil
		})
		return workerfile.Parse("w.yaml", []byte(text), opts)
	}
}

// tested runs the tests of a file and returns the report.
func tested(t *testing.T, text string, o evaluate.Options) string {
	t.Helper()
	var out bytes.Buffer
	r := &evaluate.Report{Out: term.NewPrinter(&out, false, false, false)}
	if err := evaluate.RunTests(t.Context(), "w.yaml", loader(text), o, r.Add); err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const hooks = `hooks:
  - id: guard
    events: ["tool:pre"]
    on_failure: deny
    match: has(data.tool_name)
    cel:
      rules:
        - when: tool.command == 'rm'
          deny: "rm is not for {{ session_id }}"
          user_message: told
        - when: tool.command == 'fail'
          deny: "{{ data.nothing }}"
        - when: tool.command == 'ask'
          ask: {prompt: "Really?"}
        - when: tool.command == 'late' && now.getHours() >= 18
          deny: "at {{ now }}"
        - when: tool.command == 'inject'
          inject: {text: hello}
        - when: tool.command == 'quiet'
          modify: {set: {tool_input.command: "'quiet -s'"}}
  - id: tried
    events: ["tool:*"]
    mode: shadow
    cel: {rules: [{when: "tool.command != ''", deny: tried}]}
  - id: watcher
    events: ["*"]
    mode: observe
    match: event == 'tool:pre'
    exec: {command: [sh, -c, 'echo >> "$0"', TRACE]}
  - id: counter
    events: ["a:count"]
    count: {}
  - id: command
    events: ["a:command"]
    exec: {command: [sh, -c, 'echo "{\"action\":\"deny\",\"reason\":\"ran\"}"']}
tests:
`

func TestExpectationsHoldOrReportTheDifference(t *testing.T) {
	t.Parallel()
	call := func(command, expect string) string {
		return fmt.Sprintf("  - name: x\n    session_id: s1\n    event: tool:pre\n    data: {tool_name: Bash, tool_input: {command: %s}}\n    expect: %s\n", command, expect)
	}
	for name, c := range map[string]struct{ test, want string }{
		"a denial":                      {call("rm", "{action: deny, by: guard, reason: rm is not for s1}"), ""},
		"a part of its reason":          {call("rm", "{reason: {contains: not for}}"), ""},
		"a pattern of its reason":       {call("rm", "{reason: {matches: 's[0-9]$'}}"), ""},
		"what all hooks did":            {call("rm", "{hooks: {guard: deny, tried: not reached, watcher: told, counter: skipped, command: skipped}}"), ""},
		"a message to the user":         {call("rm", "{user_message: {contains: told}}"), ""},
		"a failure":                     {call("fail", "{action: deny, by: guard, hooks: {guard: failed}}"), ""},
		"an approval request":           {call("ask", "{action: ask_user, by: guard, ask: Really?}"), ""},
		"an injection":                  {call("inject", "{action: inject_context, by: guard, inject: hello}"), ""},
		"a change":                      {call("quiet", "{action: modify, by: guard, data: {tool_input: {command: quiet -s}}, hooks: {guard: modify, tried: deny}}"), ""},
		"nothing":                       {call("ls", "{action: continue, hooks: {guard: continue, tried: deny}}"), ""},
		"an hour":                       {strings.Replace(call("late", "{action: deny, reason: 'at 2026-02-01T18:00:00Z'}"), "event:", "now: 2026-02-01T19:00:00+01:00\n    event:", 1), ""},
		"another hour":                  {call("late", "{action: continue}"), ""},
		"a match that does not hold":    {"  - {name: x, event: tool:pre, expect: {action: continue, hooks: {guard: skipped}}}\n", ""},
		"another action":                {call("rm", "{action: continue}"), "action: want continue, got deny by guard: rm is not for s1"},
		"no action":                     {call("ls", "{action: deny}"), "action: want deny, got continue"},
		"another hook":                  {call("rm", "{by: tried}"), "by: want tried, got guard"},
		"no hook":                       {call("ls", "{by: guard}"), "by: want guard, got nobody"},
		"another reason":                {call("rm", "{reason: no}"), `reason: want "no", got "rm is not for s1"`},
		"a reason without the part":     {call("rm", "{reason: {contains: x y}}"), `reason: want a text with "x y", got "rm is not for s1"`},
		"a reason beside the pattern":   {call("rm", "{reason: {matches: '^s'}}"), `reason: want a text that matches ^s, got "rm is not for s1"`},
		"a reason with one of both":     {call("rm", "{reason: {contains: rm, matches: '^s'}}"), `reason: want a text with "rm" that matches ^s, got "rm is not for s1"`},
		"another injection":             {call("inject", "{inject: bye}"), `inject: want "bye", got "hello"`},
		"another approval request":      {call("ask", "{ask: What?}"), `ask: want "What?", got "Really?"`},
		"no message":                    {call("ls", "{user_message: x}"), `user_message: want "x", got []`},
		"other data":                    {call("quiet", "{data: {tool_input: {command: quiet, x: 1}}}"), `data: at /tool_input/command want "quiet", got "quiet -s"; data: at /tool_input/x want 1, got nothing`},
		"a list that is not whole":      {strings.Replace(call("ls", "{data: {l: [1]}}"), "{tool_name", "{l: [1, 2], tool_name", 1), `data: at /l want [1], got [1,2]`},
		"a hook that did something":     {call("rm", "{hooks: {guard: continue, tried: deny}}"), "hooks: want guard continue, got deny: rm is not for s1; tells the user: told (w.yaml:8, rules[0]); hooks: want tried deny, got not reached"},
		"a hook that failed":            {call("fail", "{hooks: {guard: deny}}"), "hooks: want guard deny, got failed: error: cel.rules[1].deny: no such key: nothing: ask first whether it is there, like has(data.x) (w.yaml:11, rules[1])"},
		"a command":                     {"  - {name: x, event: 'a:command', expect: {action: deny}}\n", "hook command acts in the world, so that it was not called: say replay_safe: true of it where that does no harm, or --run-all; or let the test say what it answers, like assume: {<id>: continue}"},
		"one of several events":         {"  - name: x\n    events:\n      - {event: 'a:count'}\n      - {event: 'a:count', times: 5, expect: {action: continue}}\n", "line 40, a:count: time 2 of 5: action: want continue, got deny by counter: the third"},
		"a time of a day that is later": {"  - name: x\n    now: 2026-02-01T17:30:00Z\n    events:\n      - &E\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.test, "&E") {
				data := "event: tool:pre, data: {tool_name: Bash, tool_input: {command: late}}"
				c.test = strings.Replace(c.test, "&E", "{"+data+", expect: {action: continue}}\n      - {after: 30m, "+data+", expect: {action: deny}}", 1)
			}
			text := tested(t, hooks+c.test, evaluate.Options{})
			var wrong []string
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "        ") && !strings.HasPrefix(line, "        - ") && !strings.HasPrefix(line, "         ") {
					wrong = append(wrong, strings.TrimSpace(line))
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(wrong, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, text)
			}
			if ok := strings.HasPrefix(text, "ok      w.yaml:37  x\n1 test, 0 failed\n"); ok != (c.want == "") {
				t.Errorf("the report is\n%s", text)
			}
		})
	}
}

func TestTestsShareNoState(t *testing.T) {
	t.Parallel()
	const twice = "    events: [{event: 'a:count', times: 2, expect: {action: continue}}]\n"
	got := tested(t, hooks+"  - name: a\n"+twice+"  - name: b\n"+twice+
		"  - name: c\n    events: [{event: 'a:count', times: 2}, {event: 'a:count', expect: {action: deny, reason: the third}}]\n", evaluate.Options{})
	want := "ok      w.yaml:37  a\nok      w.yaml:39  b\nok      w.yaml:41  c\n3 tests, 0 failed\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// TestUnsafeHooksRunOnlyIfAllowed checks the trace that a command leaves.
func TestUnsafeHooksRunOnlyIfAllowed(t *testing.T) {
	t.Parallel()
	const test = "  - {name: x, event: tool:pre, expect: {hooks: {watcher: told}}}\n  - {name: y, event: 'a:command', expect: {action: deny, reason: ran}}\n"
	for name, c := range map[string]struct {
		change func(string) string
		o      evaluate.Options
		ran    bool
	}{
		"nobody said it":       {func(s string) string { return s }, evaluate.Options{}, false},
		"all are to run":       {func(s string) string { return s }, evaluate.Options{RunAll: true}, true},
		"they are replay_safe": {func(s string) string { return strings.ReplaceAll(s, "    exec:", "    replay_safe: true\n    exec:") }, evaluate.Options{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			text := tested(t, c.change(strings.Replace(hooks+test, "TRACE", trace, 1)), c.o)
			if _, err := os.Stat(trace); (err == nil) != c.ran {
				t.Errorf("the command ran: %v; want %v", err == nil, c.ran)
			}
			if ok := strings.Contains(text, "2 tests, 0 failed"); ok != c.ran {
				t.Errorf("the report is\n%s", text)
			}
		})
	}
}

func TestUnsafeShadowHookIsNotCalled(t *testing.T) {
	t.Parallel()
	text := strings.Replace(hooks, `["a:command"]`, `["a:command"]`+"\n    mode: shadow", 1)
	got := tested(t, text+"  - {name: x, event: 'a:command', expect: {action: continue, hooks: {command: not called}}}\n", evaluate.Options{})
	if !strings.HasSuffix(got, "1 test, 0 failed\n") {
		t.Errorf("the report is\n%s", got)
	}
}

// TestObserversAreNotCalled has an observer that would count each event a second time.
func TestObserversAreNotCalled(t *testing.T) {
	t.Parallel()
	text := strings.Replace(hooks, "  - id: command\n", "  - {id: second, events: ['a:count'], mode: observe, count: {}}\n  - id: command\n", 1)
	got := tested(t, text+"  - {name: x, events: [{event: 'a:count', times: 2, expect: {action: continue, hooks: {second: told}}}]}\n", evaluate.Options{})
	if !strings.HasSuffix(got, "1 test, 0 failed\n") {
		t.Errorf("the report is\n%s", got)
	}
}

func TestReportForPrograms(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := &evaluate.Report{Out: term.NewPrinter(&out, true, false, false)}
	err := evaluate.RunTests(t.Context(), "w.yaml", loader(hooks+"  - {name: <a>, event: 'b:c', expect: {action: continue}}\n  - {name: b, event: 'b:c', expect: {action: deny}}\n"), evaluate.Options{}, r.Add)
	if err := errors.Join(err, r.End()); err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"test","file":"w.yaml","line":37,"name":"<a>","ok":true}
{"kind":"test","file":"w.yaml","line":38,"name":"b","ok":false,"wrong":["action: want deny, got continue"],"verdict":{"action":"continue","data":{"timestamp":"2026-01-05T12:00:00.000000Z"},"hooks":[{"id":"watcher","mode":"observe","did":"skipped","why":"its match does not hold"}]}}
{"kind":"summary","tests":2,"failed":1}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	var junit bytes.Buffer
	if err := r.JUnit(&junit); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Failures int    `xml:"failures,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Line    int    `xml:"line,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(junit.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.Tests != 2 || read.Failures != 1 || len(read.Suites) != 1 || read.Suites[0].Name != "w.yaml" || read.Suites[0].Failures != 1 {
		t.Errorf("JUnit is\n%s", &junit)
	}
	if cases := read.Suites[0].Cases; len(cases) != 2 || cases[0].Name != "<a>" || cases[0].Failure != nil || cases[1].Line != 38 || cases[1].Failure == nil || cases[1].Failure.Message != "action: want deny, got continue" {
		t.Errorf("JUnit is\n%s", &junit)
	}
}

func TestTheReportDoesNothingToATerminal(t *testing.T) {
	t.Parallel()
	text := tested(t, hooks+"  - {name: \"a\\e[31m\\u202Eb\\nc\", event: 'b:c', expect: {action: continue}}\n", evaluate.Options{})
	if want := "ok      w.yaml:37  a[31mb c\n1 test, 0 failed\n"; text != want {
		t.Errorf("the report is %q; want %q", text, want)
	}
}

func TestAFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	r := &evaluate.Report{Out: term.NewPrinter(full{}, false, false, false)}
	err := evaluate.RunTests(t.Context(), "w.yaml", loader(hooks+"  - {name: a, event: 'b:c', expect: {action: continue}}\n"), evaluate.Options{}, r.Add)
	if !errors.Is(err, errFull) {
		t.Errorf("Run = %v; want %v", err, errFull)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := evaluate.RunTests(ctx, "w.yaml", loader(hooks+"  - {name: a, event: 'b:c', expect: {action: continue}}\n  - {name: b, event: 'b:c', expect: {action: continue}}\n"), evaluate.Options{}, func(evaluate.Result) error {
		n++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("Run = %v after %d tests; want %v after 1", err, n, context.Canceled)
	}
}

// A test sets what the router knows of the session, and the labels that hooks add are kept.
func TestTestsGiveAndExpectLabels(t *testing.T) {
	t.Parallel()
	const file = `hooks:
  - id: sees
    events: [tool:pre]
    cel: {rules: [{when: "tool.path.endsWith('.env')", labels: [secret-read]}]}
  - id: guard
    events: [tool:pre]
    priority: 10
    cel:
      rules:
        - {when: "'secret-read' in labels && tool.class == 'web'", deny: "after {{ labels[0] }}"}
        - {when: "emitter.role == 'operator' && emitter.proven", deny: "no {{ emitter.id }}"}
        - {when: "lineage.depth > 1", deny: "{{ lineage.root }} and {{ lineage.parent }}"}
`
	const passing = `tests:
  - name: what was read is kept
    session_id: s1
    events:
      - {event: tool:pre, data: {tool_name: WebFetch, tool_input: {url: "https://a.example"}}, expect: {action: continue, labels: []}}
      - {event: tool:pre, data: {tool_name: Read, tool_input: {file_path: /a/.env}}, expect: {labels: [secret-read]}}
      - {event: tool:pre, data: {tool_name: Read, tool_input: {file_path: /a/.env}}, expect: {labels: []}}
      - {event: tool:pre, data: {tool_name: WebFetch, tool_input: {url: "https://a.example"}}, expect: {action: deny, reason: after secret-read}}
  - {name: given, labels: [secret-read], event: tool:pre, data: {tool_name: WebFetch, tool_input: {url: "https://a.example"}}, expect: {action: deny}}
  - {name: who, emitter: {id: nats operator/eve, role: operator}, event: tool:pre, data: {tool_name: X}, expect: {reason: no nats operator/eve}}
  - {name: nobody, event: tool:pre, data: {tool_name: X}, expect: {action: continue}}
  - {name: where, lineage: {root: s0, parent: s1, depth: 2}, event: tool:pre, data: {tool_name: X}, expect: {reason: s0 and s1}}
  - {name: a child, lineage: {parent: s1}, event: tool:pre, data: {tool_name: X}, expect: {action: continue}}
`
	if got := tested(t, file+passing, evaluate.Options{}); strings.Contains(got, "want") || !strings.Contains(got, "6") {
		t.Errorf("the report is\n%s", got)
	}
	wrong := tested(t, file+"tests:\n  - {name: wrong, event: tool:pre, data: {tool_name: Read, tool_input: {file_path: /a/.env}}, expect: {labels: [other]}}\n", evaluate.Options{})
	if !strings.Contains(wrong, "labels: want other, got secret-read") {
		t.Errorf("the report is\n%s", wrong)
	}
}
