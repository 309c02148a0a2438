package demo

import (
	"bytes"
	"regexp"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheTurnGoesThroughTheHooksAndTheGuardHoldsWithoutItsWorker(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), &out, false); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	rest := out.String()
	for _, line := range []string{
		`session:start .* continue`,
		`session-context +inject_context Recent open issues`,
		`date-time +inject_context Current date/time`,
		`tool-suggest +\{"tool":"Read"`,
		`todo-reminder +inject_context`,
		`linter-feedback +inject_context Linter issues in deploy.sh`,
		`redaction +modify`,
		`the tool gets .*Invoice 9007199254740993 was paid with \[REDACTED:card`,
		`production-guard +ask_user`,
		`a person is asked: Allow once / Allow always / Deny`,
		`ann answers "Allow once"`,
		`path-guard +deny`,
		`no-force-push +deny +A force push rewrites shared history: git push --force`,
		`bash-validator +deny +Dangerous command blocked`,
		`session:end`,
		`the worker of bash-validator is killed`,
		`sudo rm -rf / +deny`,
		`hook "bash-validator" failed \(no_responder\) and its on_failure is deny`,
		`\d+ records in \d+ messages, exported`,
		`OK-UNANCHORED`,
		`INVALID line \d+, sequence \d+: .* not the ones that were signed`,
		`told to the observing audit hook`,
	} {
		at := regexp.MustCompile(line).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("after what was found so far there is no line %q in\n%s", line, out.String())
		}
		rest = rest[at[1]:]
	}
	if bytes.Contains(out.Bytes(), []byte("/workspace/")) {
		t.Errorf("the output names the demo's own directory:\n%s", out.String())
	}
}
