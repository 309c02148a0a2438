package why

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/why"
)

func TestAStoryFitsTheScreen(t *testing.T) {
	evil := "\x1b[2J\u202e" + strings.Repeat("x\n", 4000)
	var out bytes.Buffer
	show(term.NewPrinter(&out, false, true, false), why.Story{
		Verdict: "deny", Event: "tool:pre", Tool: evil, Subject: evil, Hook: "guard", Rule: evil, Reason: evil,
		Session: evil, Agent: evil, Labels: []string{evil}, Hooks: []why.Hook{{ID: "guard", Rule: evil}},
	})
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if len(lines) > 40 {
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > width || strings.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("%q", line)
		}
	}
	if !strings.HasPrefix(lines[0], "DENY  tool:pre") || !strings.Contains(out.String(), "guard") {
		t.Errorf("the screen:\n%s", out.String())
	}
}

// The text of a hook's failure is not cut, since its end says what was wrong.
func TestAFailureIsSaidInFull(t *testing.T) {
	var out bytes.Buffer
	show(term.NewPrinter(&out, false, true, false), why.Story{Verdict: why.Denied, Hook: "guard", Hooks: []why.Hook{
		{ID: "guard", Failure: "invalid_result", Error: "invalid result: action must be one of [" + strings.Repeat("x ", 40) + `], not "denny"`},
	}})
	if !strings.Contains(out.String(), `], not "denny"`+"\n") {
		t.Errorf("the screen:\n%s", out.String())
	}
}

// Everybody who asked is named with the rule, an answer that nobody gave is reported as such, and
// omitted hooks leave no gaps in the numbers.
func TestWhoAskedAndWhatIsLeftOut(t *testing.T) {
	story := why.Story{
		Verdict: why.Denied, Event: "tool:pre", Hook: "paths", Askers: []string{"paths", "commands"}, Time: "TIME", ChainID: "c1", Place: "1:0", Stream: "S",
		Approval: []why.Approval{{Decided: "TIME", DecidedBy: "timeout", TimedOut: true, Waited: 300_000, Revealed: []string{"nats admin/ann"}}},
		Hooks: []why.Hook{
			{ID: "first", Action: "continue"},
			{ID: "paths", Action: "ask_user", Rule: "a", RuleText: "rule a"},
			{ID: "second", Skipped: true, Action: "skipped"},
			{ID: "third", Action: "continue"},
			{ID: "commands", Action: "ask_user", Rule: "b", RuleText: "rule b"},
			{ID: "fourth", Skipped: true, Action: "in_vain"},
			{ID: "fifth", Action: "continue"},
		},
	}
	var out bytes.Buffer
	show(term.NewPrinter(&out, false, true, false), story)
	const want = `DENIED  tool:pre
hooks    paths, commands
rules    rule a
         rule b
answer   denied: nobody answered within 5m0s
revealed its secrets, to nats admin/ann
when     TIME, took 0.0ms
chain    c1  at 1:0 of S

  first     continue  0.0ms
  paths     ask_user  0.0ms
  second    skipped: its match was false
  third     continue  0.0ms
  commands  ask_user  0.0ms
  … and 2 more, which --json lists
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatWasNotRecordedIsNamedHarmlessly(t *testing.T) {
	if got := NotRecorded("c1\x1b[2J").Error(); !strings.HasPrefix(got, "why c1␛[2J: the audit log has nothing on this id") {
		t.Errorf("%q", got)
	}
	if got := NotRecorded("").Error(); !strings.HasPrefix(got, "why: the audit log has no denial; ") {
		t.Errorf("%q", got)
	}
}
