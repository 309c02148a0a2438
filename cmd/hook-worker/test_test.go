package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tested = `hooks:
  - {id: freeze, events: ["deploy:start"], cel: {rules: [{deny: frozen}]}}
tests:
  - {name: nobody deploys, event: "deploy:start", expect: {action: deny}}
`

// tries runs `hook-worker test`.
func tries(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, complaints bytes.Buffer
	err = run(t.Context(), append([]string{"test"}, args...), process{stdout: &out, stderr: &complaints})
	return out.String(), complaints.String(), err
}

func TestTheTestsOfFilesRun(t *testing.T) {
	t.Parallel()
	well, wrong := write(t, tested), write(t, strings.Replace(tested, "action: deny", "action: continue", 1))
	report := filepath.Join(t.TempDir(), "report.xml")
	stdout, _, err := tries(t, "--junit", report, well)
	if want := "ok      " + well + ":4  nobody deploys\n1 test, 0 failed\n"; err != nil || stdout != want {
		t.Errorf("stdout %q, %v; want %q", stdout, err, want)
	}
	if text, err := os.ReadFile(report); err != nil || !strings.Contains(string(text), `<testsuites tests="1" failures="0" errors="0">`) {
		t.Errorf("JUnit is %s, %v", text, err)
	}
	stdout, _, err = tries(t, "--json", "--junit", report, well, wrong)
	if err == nil || err.Error() != "1 of 2 failed" || exitCode(err) != 1 || !strings.HasSuffix(stdout, `{"kind":"summary","tests":2,"failed":1}`+"\n") {
		t.Errorf("stdout %s, %v; want JSON with one that failed", stdout, err)
	}
	if text, err := os.ReadFile(report); err != nil || !strings.Contains(string(text), `<testsuites tests="2" failures="1" errors="0">`) {
		t.Errorf("JUnit is %s, %v", text, err)
	}
}

func TestTestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	well := write(t, tested)
	untested, _, _ := strings.Cut(tested, "tests:")
	events := write(t, `{"event":"a b"}`)
	for name, c := range map[string]struct {
		args           []string
		want, complain string
		code           int
	}{
		"no tests":               {[]string{write(t, untested)}, "has no tests: write a section tests", "", 1},
		"no tests in one of two": {[]string{well, write(t, untested)}, "has no tests", "", 1},
		"a file that is wrong":   {[]string{write(t, tested+"    - x\n")}, ": 1 error", ":5:", 1},
		"a test that is wrong":   {[]string{write(t, strings.Replace(tested, "action: deny", "action: block", 1))}, ": 1 error", ":4:68: tests[0].expect.action: must be one of", 1},
		"no such file":           {[]string{"/no/such.yaml"}, "no such file", "", 1},
		"a directory":            {[]string{filepath.Dir(well) + "/"}, filepath.Dir(well) + "/ is a directory: give the files in it, such as " + filepath.Dir(well) + "/*.yaml", "", 1},
		"no such events":         {[]string{"--events", "/no/such.jsonl", well}, "/no/such.jsonl: no such file or directory: give a file", "", 1},
		"events that are wrong":  {[]string{"--events", events, well}, events + `:1: event name "a b"`, "", 1},
		"events and two files":   {[]string{"--events", events, well, well}, "events run through one worker file", "", 1},
		"a report nowhere":       {[]string{"--junit", "/no/such/dir/x.xml", well}, "write JUnit: ", "", 1},
		"both forms":             {[]string{"--json", "--text", well}, "--json and --text can't be used together", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, err := tries(t, c.args...)
			if err == nil || !strings.Contains(err.Error(), c.want) || exitCode(err) != c.code || !strings.Contains(stderr, c.complain) {
				t.Errorf("%v\n%s; want %q and %q, exit code %d", err, stderr, c.want, c.complain, c.code)
			}
		})
	}
}

func TestEventsRunThroughAFile(t *testing.T) {
	t.Parallel()
	events := write(t, `{"event":"deploy:start","session_id":"s1"}`)
	file := write(t, tested)
	stdout, _, err := tries(t, "--text", "--events", events, file)
	if want := events + ":1  deploy:start  s1  deny by freeze: frozen\n        - freeze: deny: frozen (" + file + ":2, rules[0])\n1 event, 0 failed\n"; err != nil || stdout != want {
		t.Errorf("stdout %q, %v; want %q", stdout, err, want)
	}
}

func TestTheSchemaIsPrinted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"schema"}, process{stdout: &out, stderr: &out}); err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(out.Bytes(), &s); err != nil || s["title"] != "hook-worker" {
		t.Errorf("the schema is %s, %v", &out, err)
	}
}

// TestAReplayIsAtTheTimeOfTheEvent: what a rule about the time says of a recorded event is
// what it would have said.
func TestAReplayIsAtTheTimeOfTheEvent(t *testing.T) {
	t.Parallel()
	const file = "hooks:\n  - {id: night, events: ['tool:pre'], cel: {rules: [{when: 'now.getHours() >= 22', deny: 'at {{ now }}'}]}}\n"
	const events = `{"event":"tool:pre","time":"2026-01-05T23:00:00Z","data":{"timestamp":"T"}}` + "\n" + `{"event":"tool:pre","time":"2026-01-05T12:00:00Z","data":{"timestamp":"T"}}` + "\n"
	got, err := replayed(t, file, events)
	want := `{"action":"deny","reason":"at 2026-01-05T23:00:00Z","denied_by":"night","data":{"timestamp":"T"},"hops":[{"id":"night","action":"deny","reason":"at 2026-01-05T23:00:00Z"}]}` + "\n" +
		`{"action":"continue","data":{"timestamp":"T"},"hops":[{"id":"night","action":"continue"}]}` + "\n"
	if err != nil || got != want {
		t.Errorf("stdout %s, %v; want %s", got, err, want)
	}
}
