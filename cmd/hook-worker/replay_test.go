package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/evaluate/replay"
)

// replayed runs events through a file and returns what stands on standard output.
func replayed(t *testing.T, file, events string, args ...string) (stdout string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, []byte(events), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	err = run(t.Context(), append([]string{"replay", write(t, file), path}, args...), process{stdout: &out, stderr: &stderr})
	return out.String(), err
}

const policies = `
hooks:
  - id: path-guard
    events: [tool:pre]
    priority: 5
    match: data.tool_name in ['Write', 'Shell']
    cel:
      rules:
        - when: data.tool_name == 'Shell' || data.tool_input.file_path.startsWith('/etc/')
          deny: "{{ data.tool_name }} is not for {{ session_id }}"
  - id: renames
    events: [tool:*]
    mode: shadow
    match: data.tool_name == 'Bash'
    cel: {rules: [{modify: {set: {tool_name: "'Shell'"}}}]}
  - id: told
    events: ["*"]
    mode: observe
    cel: {rules: [{deny: never}]}
`

func TestReplayDecidesAsARouterWould(t *testing.T) {
	const write = `{"event":"tool:pre","session_id":"s1","data":{"tool_name":"Write","tool_input":{"file_path":"/etc/x"},"timestamp":"T"}}`
	const bash = `{"event":"tool:pre","data":{"session_id":"s2","tool_name":"Bash","timestamp":"T"}}`
	for sentence, c := range map[string]struct {
		event, want string
		args        []string
	}{
		"a rule denies": {write, `{"action":"deny","reason":"Write is not for s1","denied_by":"path-guard","data":{"tool_name":"Write","tool_input":{"file_path":"/etc/x"},"timestamp":"T"},` +
			`"hops":[{"id":"path-guard","action":"deny","reason":"Write is not for s1"}],"skipped":["renames"]}`, nil},
		"a shadow hook counts, and the match sees what it made": {bash, `{"action":"deny","reason":"Shell is not for s2","denied_by":"path-guard","data":{"session_id":"s2","tool_name":"Shell","timestamp":"T"},` +
			`"hops":[{"id":"renames","action":"modify"},{"id":"path-guard","action":"deny","reason":"Shell is not for s2"}]}`, nil},
		"unless it is not to": {bash, `{"action":"continue","data":{"session_id":"s2","tool_name":"Bash","timestamp":"T"},"hops":[],"skipped":["path-guard"]}`, []string{"--no-as-if-enforced"}},
		"a rule that fails": {`{"event":"tool:pre","data":{"tool_name":"Write","timestamp":"T"}}`, `{"action":"continue","data":{"tool_name":"Write","timestamp":"T"},` +
			`"hops":[{"id":"path-guard","failure":"error","error":"cel.rules[0].when: no such key: tool_input: ask first whether it is there, like has(data.x)"}],"skipped":["renames"]}`, nil},
		"an event of no hook": {`{"event":"session:start","data":{"timestamp":"T"}}`, `{"action":"continue","data":{"timestamp":"T"},"hops":[]}`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := replayed(t, policies, c.event+"\n\n", c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want+"\n", got); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReplayRunsCommandsOnlyWhereThatDoesNoHarm(t *testing.T) {
	const file = `
hooks:
  - id: acts
    events: [tool:pre]
    match: data.tool_name == 'Bash'
    exec: {command: [sh, -c, 'echo ran >> "$0"; echo "{\"action\":\"deny\",\"reason\":\"$HOOK_SESSION_ID\"}"', TRACE]}
`
	const event = `{"event":"tool:pre","session_id":"s1","data":{"tool_name":"Bash","timestamp":"T"}`
	const refused = `{"refused":{"reason":"not replayable: acts runs a command, is not replay_safe and was not in the recorded chain (--run-all runs it)"}}`
	const denied = `{"action":"deny","reason":"s1","denied_by":"acts","data":{"tool_name":"Bash","timestamp":"T"},"hops":[{"id":"acts","action":"deny","reason":"s1"}]}`
	for sentence, c := range map[string]struct {
		registration, event, want string
		args                      []string
		ran                       bool
	}{
		"a command":                     {"", event + "}", refused, nil, false},
		"of a hook that is replay_safe": {"replay_safe: true", event + "}", denied, nil, true},
		"where all are to run":          {"", event + "}", denied, []string{"--run-all"}, true},
		"whose match does not hold":     {"", strings.Replace(event, "Bash", "Read", 1) + "}", `{"action":"continue","data":{"tool_name":"Read","timestamp":"T"},"hops":[],"skipped":["acts"]}`, nil, false},
		"which answered then":           {"", event + `,"recorded":[{"id":"acts","action":"deny","reason":"then"}]}`, `{"action":"deny","reason":"then","denied_by":"acts","data":{"tool_name":"Bash","timestamp":"T"},"hops":[{"id":"acts","action":"deny","reason":"then","recorded":true}]}`, nil, false},
		"which could not be asked then": {"", event + `,"recorded":[{"id":"acts","failure":"match_error","error":"x","failed_open":true}]}`, refused, nil, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			text := strings.Replace(file, "TRACE", trace, 1)
			if c.registration != "" {
				text = strings.Replace(text, "match:", c.registration+"\n    match:", 1)
			}
			got, err := replayed(t, text, c.event+"\n", c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want+"\n", got); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(trace); (err == nil) != c.ran {
				t.Errorf("the command ran: %v; want %v", err == nil, c.ran)
			}
		})
	}
}

func TestReplayBesideTheRecordedHooks(t *testing.T) {
	const file = `
hooks:
  - id: late
    events: [tool:pre]
    cel: {rules: [{when: "data.tool_name == 'B'", deny: late}]}
  - id: early
    events: [tool:pre]
    priority: -1
    cel: {rules: [{when: "data.tool_name == 'A'", deny: early}]}
  - id: both
    events: [tool:pre]
    priority: 9
    cel: {rules: [{when: "data.tool_name == 'C'", deny: both}]}
`
	event := func(tool, recorded string) string {
		return `{"event":"tool:pre","data":{"tool_name":"` + tool + `","timestamp":"T"},"recorded":[` + recorded + `]}`
	}
	for sentence, c := range map[string]struct{ event, want string }{
		"before the others by a negative priority": {event("A", `{"id":"x"}`), "deny early: early"},
		"after them else":                          {event("B", `{"id":"x"},{"id":"y"}`), "deny late: early x* y* late"},
		"in its recorded place":                    {event("C", `{"id":"x"},{"id":"both"},{"id":"y"}`), "deny both: early x* both"},
		"a recorded denial holds":                  {event("B", `{"id":"x","action":"deny"}`), "deny x: early x*"},
		"one that the file takes back":             {event("D", `{"id":"x"},{"id":"both","action":"deny"}`), "refused: not replayable: the recorded chain ended where both denied, which it would not do now: what hooks after it would have said is not known"},
		"what a recorded hook made of the data":    {event("D", `{"id":"x","action":"modify","data":{"tool_name":"B"}}`), "deny late: early x* late"},
	} {
		t.Run(sentence, func(t *testing.T) {
			out, err := replayed(t, file, c.event+"\n")
			if err != nil {
				t.Fatal(err)
			}
			var r replay.Reply
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			got := ""
			if r.Refused != nil {
				got = "refused: " + r.Refused.Reason
			} else {
				got = string(r.Action) + " " + r.DeniedBy + ":"
				for _, h := range r.Hops {
					got += " " + h.ID + map[bool]string{true: "*"}[h.Recorded]
				}
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReplaySaysWhatIsWrong(t *testing.T) {
	for sentence, c := range map[string]struct{ events, want string }{
		"no JSON":           {`{"event":"tool:pre"}` + "\n{\n", "events.jsonl:2: "},
		"no event":          {`{}`, "events.jsonl:1: event name"},
		"an unknown member": {`{"event":"tool:pre","sesion":"x"}`, `unknown object member name "sesion"`},
		"duplicate names":   {`{"event":"tool:pre","data":{"a":1,"a":2}}`, `duplicate object member name "a"`},
		"two sessions":      {`{"event":"tool:pre","session_id":"a","data":{"session_id":"b"}}`, "events.jsonl:1: session_id is another one in the data"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := replayed(t, policies, c.events)
			if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != 2 {
				t.Errorf("run = %v, exit code %d; want 2 and %s", err, exitCode(err), c.want)
			}
		})
	}
	if err := run(t.Context(), []string{"replay", write(t, policies), "/no/such/file"}, process{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}); err == nil || exitCode(err) != 2 {
		t.Errorf("run = %v", err)
	}
}
