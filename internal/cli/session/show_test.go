package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approver"
)

func TestASessionIsShownHarmlessly(t *testing.T) {
	var out bytes.Buffer
	showSession(&cli.Env{Out: term.NewPrinter(&out, false, true, false)}, approver.SessionInfo{
		ID: "s1\x1b[2J", Root: "s0", Parent: "s0\x1b[2J", Labels: []string{"secret\x1b[2J"},
		Grants: []approver.Grant{{Hook: "deploy\x1b[2J", Prompt: "Deploy?\x1b[2J" + strings.Repeat("x", 5000), By: "ann\x1b[2J"}},
	})
	got := out.String()
	for _, want := range []string{"s1␛[2J", "s0␛[2J, in the tree of s0", "secret␛[2J", "deploy␛[2J", "Deploy?␛", "its end"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") || len(got) > 2000 {
		t.Errorf("%d bytes, want what does not act on a terminal, cut:\n%q", len(got), got)
	}
}
