package workerfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
)

// tests wraps a test, which begins on line 6.
func tests(lines string) string { return hook(anyRule) + "tests:\n  - name: holds\n" + lines }

func TestTestsAreRead(t *testing.T) {
	f, err := workerfile.Parse("w.yaml", []byte(tests(`    session_id: s1
    now: 2026-03-07T01:30:00+02:00
    events:
      - {event: tool:pre, data: {tool_name: Bash, none: null, n: 9007199254740993}, times: 3}
      - event: tool:post
        after: 1h30m
        expect: {action: deny, by: guard, reason: "no", inject: {contains: a}, ask: {matches: "^a+$"}, data: {x: null}, hooks: {guard: not reached}}
`)), basic.Kinds(kind.Worker{}))
	if err != nil {
		t.Fatal(err)
	}
	got := f.Tests[0]
	want := workerfile.Test{
		Name: "holds", SessionID: "s1", Now: "2026-03-07T01:30:00+02:00", Start: got.Start, Step: workerfile.Step{Line: 6},
		Events: []workerfile.Step{
			{Event: "tool:pre", Data: []byte(`{"tool_name":"Bash","none":null,"n":9007199254740993}`), Times: 3, Line: 10},
			{Event: "tool:post", After: "1h30m", Wait: 90 * time.Minute, Line: 11},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(workerfile.Step{}, "Expect")); diff != "" {
		t.Errorf("test (-want +got):\n%s", diff)
	}
	if start := time.Date(2026, 3, 6, 23, 30, 0, 0, time.UTC); !got.Start.Equal(start) {
		t.Errorf("Start = %v; want %v", got.Start, start)
	}
	e := got.Events[1].Expect
	if *e.Reason.Is != "no" || e.Inject.Contains != "a" || !e.Ask.Pattern.MatchString("aa") || string(e.Data) != `{"x":null}` || e.Hooks["guard"] != workerfile.NotReached {
		t.Errorf("Expect = %+v", e)
	}
}

func TestATestWithoutATimeHasAlwaysTheSame(t *testing.T) {
	f, err := workerfile.Parse("w.yaml", []byte(tests("    event: a:b\n    expect: {action: continue}\n")), basic.Kinds(kind.Worker{}))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Tests[0].Start.Format(time.RFC3339); got != "2026-01-05T12:00:00Z" {
		t.Errorf("Start = %s; want what the documents say", got)
	}
}

func TestParseNamesThePlaceOfEachErrorInTests(t *testing.T) {
	const deny = "    expect: {action: deny}\n"
	for name, c := range map[string]struct{ text, want string }{
		"no list":                 {hook(anyRule) + "tests: {}\n", "w.yaml:5:8: tests: must be a list, not a mapping"},
		"no name":                 {hook(anyRule) + "tests:\n  - event: a:b\n" + deny, "w.yaml:6:5: tests[0]: a test needs a name"},
		"a name twice":            {tests("    event: a:b\n"+deny) + "  - name: holds\n    event: a:b\n" + deny, "w.yaml:9:11: tests[1].name: the test in line 6 already has this name"},
		"a key misspelt":          {tests("    evnt: a:b\n" + deny), `w.yaml:7:5: tests[0]: unknown key "evnt": did you mean "event"?`},
		"no event":                {tests(deny), "w.yaml:6:5: tests[0]: the test has no event"},
		"event and events":        {tests("    event: a:b\n    events: [{event: a:b}]\n"), "w.yaml:7:12: tests[0].event: the test has both"},
		"events and expect":       {tests("    events: [{event: a:b}]\n" + deny), "w.yaml:6:5: tests[0]: with events, data, after, times and expect stand at each"},
		"a bad event":             {tests("    event: a b\n" + deny), `w.yaml:7:12: tests[0].event: event name "a b"`},
		"a bad event of several":  {tests("    events:\n      - event: a b\n"), `w.yaml:8:16: tests[0].events[0].event: event name "a b"`},
		"a bad time":              {tests("    event: a:b\n    now: today\n" + deny), "w.yaml:8:10: tests[0].now: must be a time such as"},
		"a bad span":              {tests("    events: [{event: a:b, after: -1s}]\n"), "w.yaml:7:34: tests[0].events[0].after: must be a time span"},
		"too often":               {tests("    event: a:b\n    times: 10001\n" + deny), "w.yaml:8:12: tests[0].times: must be 1 to 10000, not 10001"},
		"data that is a text":     {tests("    event: a:b\n    data: x\n" + deny), "w.yaml:8:11: tests[0].data: data must be a JSON object"},
		"expects nothing":         {tests("    event: a:b\n"), "w.yaml:6:5: tests[0]: the test expects nothing"},
		"expects nothing at all":  {tests("    event: a:b\n    expect: {}\n"), "w.yaml:8:13: tests[0].expect: expects nothing"},
		"events expect nothing":   {tests("    events: [{event: a:b}, {event: a:b}]\n"), "w.yaml:7:28: tests[0].events[1]: the test expects nothing"},
		"an assumption of nobody": {tests("    event: a:b\n    assume: {gurad: deny}\n" + deny), `w.yaml:8:21: tests[0].assume.gurad: the file has no hook "gurad": did you mean "guard"?`},
		"an unknown assumption":   {tests("    event: a:b\n    assume: {guard: block}\n" + deny), `w.yaml:8:21: tests[0].assume.guard: must be one of continue, deny, modify, inject_context, ask_user, failed, not "block"`},
		"an assumption of a list": {tests("    event: a:b\n    assume: {guard: [deny]}\n" + deny), "w.yaml:8:21: tests[0].assume.guard: must be one of continue"},
		"an assumed key":          {tests("    event: a:b\n    assume: {guard: {action: deny, reson: a}}\n" + deny), `w.yaml:8:36: tests[0].assume.guard: unknown key "reson": did you mean "reason"?`},
		"an assumed nothing":      {tests("    event: a:b\n    assume: {guard: {reason: a}}\n" + deny), "w.yaml:8:21: tests[0].assume.guard: the result has no action"},
		"an assumed change":       {tests("    event: a:b\n    assume: {guard: modify}\n" + deny), "w.yaml:8:21: tests[0].assume.guard: what modify changes is missing"},
		"an assumed text as data": {tests("    event: a:b\n    assume: {guard: {action: modify, data: a}}\n" + deny), "w.yaml:8:44: tests[0].assume.guard.data: data must be a JSON object"},
		"an unknown action":       {tests("    event: a:b\n    expect: {action: block}\n"), "w.yaml:8:22: tests[0].expect.action: must be one of continue, deny"},
		"an unknown hook":         {tests("    event: a:b\n    expect: {by: other}\n"), `w.yaml:8:18: tests[0].expect.by: the file has no hook "other": its hooks are guard`},
		"a hook that is misspelt": {tests("    event: a:b\n    expect: {hooks: {guards: deny}}\n"), `w.yaml:8:30: tests[0].expect.hooks.guards: the file has no hook "guards": did you mean "guard"?`},
		"an unknown deed":         {tests("    event: a:b\n    expect: {hooks: {guard: ran}}\n"), "w.yaml:8:29: tests[0].expect.hooks.guard: must be one of"},
		"a bad pattern":           {tests("    event: a:b\n    expect: {reason: {matches: '('}}\n"), "w.yaml:8:22: tests[0].expect.reason: matches: error parsing regexp"},
		"an empty text":           {tests("    event: a:b\n    expect: {ask: {}}\n"), "w.yaml:8:19: tests[0].expect.ask: must be a text, or have"},
		"a key of a text":         {tests("    event: a:b\n    expect: {ask: {contain: a}}\n"), `w.yaml:8:20: tests[0].expect.ask: unknown key "contain": did you mean "contains"?`},
		"a bad label":             {tests("    event: a:b\n    labels: [A B]\n" + deny), `w.yaml:8:13: tests[0].labels: the label "A B" must be made of`},
		"a bad expected label":    {tests("    event: a:b\n    expect: {labels: [-]}\n"), `w.yaml:8:22: tests[0].expect.labels: the label "-" must be`},
		"a sender without id":     {tests("    event: a:b\n    emitter: {role: agent}\n" + deny), "w.yaml:8:14: tests[0].emitter: "},
		"lineage without parent":  {tests("    event: a:b\n    lineage: {root: s}\n" + deny), "w.yaml:8:14: tests[0].lineage: "},
		"a depth below zero":      {tests("    event: a:b\n    lineage: {parent: s, depth: -1}\n" + deny), "w.yaml:8:33: tests[0].lineage.depth: must be 1 or more"},
		"data that is expected":   {tests("    event: a:b\n    expect: {data: [1]}\n"), "w.yaml:8:20: tests[0].expect.data: data must be a JSON object"},
		"null elsewhere":          {tests("    event: a:b\n    session_id: null\n" + deny), "w.yaml:8:17: tests[0].session_id: has no value"},
		"no value in data":        {tests("    event: a:b\n    data: {x: }\n" + deny), "w.yaml:8:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := workerfile.Parse("w.yaml", []byte(c.text), basic.Kinds(kind.Worker{}))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("Parse of\n%s\n= %v\nwant %s", c.text, err, c.want)
			}
			if all := workerfile.Errors(err); len(all) != 1 || all[0].Line < 1 {
				t.Errorf("Errors = %v; want one with a line", all)
			}
		})
	}
}
