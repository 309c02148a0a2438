package evaluate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/evaluate"
)

// TestAHookThatIsAssumedIsNotCalled assumes the answers of a command that would leave a trace.
func TestAHookThatIsAssumedIsNotCalled(t *testing.T) {
	t.Parallel()
	for assumed, expect := range map[string]string{
		"continue":                       "{action: continue, hooks: {command: continue}}",
		"deny":                           "{action: deny, by: command}",
		"failed":                         "{action: continue, hooks: {command: failed}}",
		"{action: deny, reason: no}":     "{action: deny, by: command, reason: no}",
		"{action: modify, data: {a: 1}}": "{action: modify, by: command, data: {a: 1}}",
		"{action: inject_context, context_injection: hi}":                      "{action: inject_context, inject: hi}",
		"{action: ask_user, approval_prompt: Sure?, approval_options: [a, b]}": "{action: ask_user, ask: Sure?}",
		"{action: continue, user_message: look}":                               "{action: continue, user_message: look}",
	} {
		trace := filepath.Join(t.TempDir(), "trace")
		text := strings.Replace(hooks, `echo "{`, "touch "+trace+`; echo "{`, 1) +
			"  - {name: x, event: 'a:command', assume: {command: " + assumed + "}, expect: " + expect + "}\n"
		if got := tested(t, text, evaluate.Options{RunAll: true}); !strings.HasSuffix(got, "1 test, 0 failed\n") {
			t.Errorf("%s: the report is\n%s", assumed, got)
		}
		if _, err := os.Stat(trace); err == nil {
			t.Errorf("%s: the command ran", assumed)
		}
	}
}

func TestReportMarksAssumedAnswers(t *testing.T) {
	t.Parallel()
	got := tested(t, hooks+"  - {name: x, event: 'a:command', assume: {command: {action: deny, reason: no}}, expect: {action: continue}}\n"+
		"  - {name: y, event: 'a:command', expect: {action: continue}}\n", evaluate.Options{})
	for _, want := range []string{"- command: deny: no (assumed)\n", "hook command acts in the world, so that it was not called: say"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report is\n%s; want %s", got, want)
		}
	}
}

func TestPassingTestWarnsOfAnEventThatNoHookWants(t *testing.T) {
	t.Parallel()
	text := strings.Replace(hooks, `["*"]`, `["a:b"]`, 1)
	got := tested(t, text+"  - {name: x, event: 'tool:pree', expect: {action: continue}}\n"+
		"  - {name: y, event: 'tol:pre', expect: {action: continue}}\n"+
		"  - {name: z, events: [{event: 'a:b'}, {event: 'b:c', expect: {action: continue}}]}\n"+
		"  - {name: said, event: 'b:c', expect: {hooks: {guard: skipped}}}\n", evaluate.Options{})
	want := `ok      w.yaml:37  x
        warning: w.yaml:37:22: tests[0].event: there is no standard event tool:pree: did you mean tool:pre?
ok      w.yaml:38  y
        warning: w.yaml:38:22: tests[1].event: there is no standard event tol:pre: did you mean tool:pre?
        warning: line 38: no hook of the file wants tol:pre
ok      w.yaml:39  z
        warning: line 39: no hook of the file wants b:c
ok      w.yaml:40  said
4 tests, 0 failed
`
	if got != want {
		t.Errorf("the report is\n%s; want\n%s", got, want)
	}
}
