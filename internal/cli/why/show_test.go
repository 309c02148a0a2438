package why

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

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

func TestWhatWasNotRecordedIsNamedHarmlessly(t *testing.T) {
	if got := NotRecorded("c1\x1b[2J").Error(); !strings.HasPrefix(got, "why c1␛[2J: the audit log has nothing on this id") {
		t.Errorf("%q", got)
	}
	if got := NotRecorded("").Error(); !strings.HasPrefix(got, "why: the audit log has no denial; ") {
		t.Errorf("%q", got)
	}
}
