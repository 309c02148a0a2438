package demo

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// spaces also are what lines are wrapped with.
var spaces = regexp.MustCompile(`\s+`)

// Larger tiers run the demo in real time, for the times that it shows; else nobody waits for the
// router to sign its records.
func TestTheGuardDeniesWithoutItsWorker(t *testing.T) {
	if testkit.CurrentTier(t) > testkit.Smoke {
		t.Parallel()
		wholeDemo(t)
		return
	}
	natstest.Bubble(t, wholeDemo)
}

func wholeDemo(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	began := time.Now()
	if err := Run(t.Context(), &out, false); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("a line has %d characters and a terminal 80: %s", n, line)
		}
	}
	checkFigures(t, out.String(), time.Since(began))
	rest := spaces.ReplaceAllString(out.String(), " ")
	for _, line := range []string{
		`session:start .*? continue`,
		`session-context +inject_context Recent open issues`,
		`date-time +inject_context Current date and time`,
		`tool-suggest contributes \{"tool":"Read"`,
		`todo-display +continue tells the user Todo .*? 0/2`,
		`todo-reminder +inject_context`,
		`linter-feedback +inject_context New linter findings in deploy.sh`,
		`redaction +modify`,
		`the tool gets .*?Invoice 9007199254740993 was paid with \[REDACTED:card`,
		`production-guard +ask_user`,
		`approval requested: Allow once / Allow always / Deny`,
		`ann answers "Allow once"`,
		`path-guard +deny`,
		`no-force-push +deny +A force push rewrites shared history: git push --force`,
		`bash-validator +deny +Command denied`,
		`Session complete: 1 turn`,
		`session:end`,
		`Killing the worker of bash-validator`,
		`sudo rm -rf / +deny`,
		`hook "bash-validator" failed \(no_responder\) and its on_failure is deny`,
		`\d+ records in \d+ messages, exported`,
		`OK-UNANCHORED`,
		`INVALID line \d+, sequence \d+: .*? not the ones that were signed`,
		`Hooks in mode observe got \d+ events`,
	} {
		at := regexp.MustCompile(line).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("no line matches %q after the previous match in\n%s", line, out.String())
		}
		rest = rest[at[1]:]
	}
	if bytes.Contains(out.Bytes(), []byte("/workspace/")) {
		t.Errorf("the output names the demo's own directory:\n%s", out.String())
	}
}

// checkFigures looks for figures that do not fit what is seen: sizes of the encoded event
// instead of the text, and times that nobody waited.
func checkFigures(t *testing.T, text string, took time.Duration) {
	t.Helper()
	if !strings.Contains(text, "the prompt has 8 words") || strings.Contains(text, "bytes of event") {
		t.Errorf("the prompt's size is not told in words:\n%s", text)
	}
	figures := regexp.MustCompile(`(\d+(?:\.\d+)?) ?(ms|s)\b`).FindAllStringSubmatch(text, -1)
	if len(figures) < 17 {
		t.Errorf("%d durations, and there are 17 events:\n%s", len(figures), text)
	}
	const rounding = 5 * time.Millisecond // of the whole time
	for _, f := range figures {
		d, err := time.ParseDuration(f[1] + f[2])
		if err != nil || d > took+rounding {
			t.Errorf("%q, and the whole demo took %v", f[0], took)
		}
	}
}

// The time of an event is shown in milliseconds.
func TestTheTimeOfAnEvent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &printer{out: term.NewPrinter(&out, false, false, false)}
	p.head(step{Event: "tool:pre"}, "continue", 1500*time.Microsecond)
	if !strings.Contains(out.String(), " 1.5 ms\n") {
		t.Errorf("%q", out.String())
	}
}
