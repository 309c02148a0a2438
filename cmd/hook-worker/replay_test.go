package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	t.Parallel()
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
	t.Parallel()
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

func TestReplaySaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct{ events, want string }{
		"no JSON":           {`{"event":"tool:pre"}` + "\n{\n", "events.jsonl:2: "},
		"no event":          {`{}`, "events.jsonl:1: the event has no name"},
		"an unknown member": {`{"event":"tool:pre","sesion":"x"}`, `an event has no member "sesion"`},
		"duplicate names":   {`{"event":"tool:pre","data":{"a":1,"a":2}}`, `has the name "/data/a" twice`},
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
