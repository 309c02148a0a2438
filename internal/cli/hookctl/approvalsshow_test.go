package hookctl_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// The subject comes first, nothing is repeated, and line breaks are real.
func TestTheCommandComesFirst(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	question := chain.Question("Run this command?\n\nmake deploy\n\nAsked because: it reaches production")
	question.Reason = "it reaches production"
	_, id := f.Asking(question, `{"tool_name":"Bash","tool_input":{"command":"make deploy","opts":{"script":"import os\nprint(1)\n","n":1}}}`)
	f.Run("--text", "approvals", "show", id).See(t, cli.ExitOK, `
QUESTION  waits for an answer; time left: SPAN, then deny

command
make deploy

prompt
│ Run this command?
│
│ make deploy
│
│ Asked because: it reaches production

hook     deploy-guard (ask)
tool     Bash
event    tool:pre
session  s1
agent    hookctl
chain    ID
options  Allow | Deny
sha256   DIGEST

data
session_id: s1
tool_name: Bash
command: make deploy
opts:
  {
    "script":
      │ import os
      │ print(1)
    "n": 1
  }
timestamp: TIME`)
	for _, command := range []string{"approvals", "why"} {
		got := f.Run(command, "--text", "--wide")
		if command == "why" {
			got = f.Run(command, id, "--text")
		}
		if !strings.Contains(got.Stdout, "command? ⏎ make deploy ⏎ Asked because: it") || strings.Contains(got.Stdout, "⏎⏎") {
			t.Errorf("%s: %s%s", command, got.Stdout, got.Stderr)
		}
	}
}

// In the prompt of a rule, too, one sign replaces each run of line breaks.
func TestAPromptOfSeveralLinesInATable(t *testing.T) {
	t.Parallel()
	rules := "rules: [{decision: allow, hook: h, prompt: \"Run this?\\n\\nmake *\"}]"
	f := offline(t)
	f.With(cli.Process{Stdin: strings.NewReader(rules)}, "--text", "approvals", "rules", "-").See(t, cli.ExitOK,
		"RULE    DECISION  HOOK  TOOL  PROMPT\nrule 1  allow     h     *     Run this? ⏎ make *")
}

// A misspelt answer decides nothing, and the error names the intended option.
func TestAMisspeltAnswerNamesTheRightOne(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	_, id := f.Asking(chain.Question("Deploy?"))
	for option, want := range map[string]string{"allw": `; did you mean "Allow"?`, "DNEY": `; did you mean "Deny"?`, "perhaps": `"Allow", "Deny"`} {
		got := f.Run("approvals", "answer", id, option)
		if got.Code != cli.ExitRefused || !strings.Contains(got.Stderr, want) || option == "perhaps" && strings.Contains(got.Stderr, "did you mean") {
			t.Errorf("%s: %+v", option, got)
		}
	}
	long := f.Run("approvals", "answer", id, "allow", "--note", strings.Repeat("x", 5000))
	if long.Code != cli.ExitRefused || strings.Contains(long.Stderr, "did you mean") {
		t.Errorf("an answer that is offered, and refused: %+v", long)
	}
}

func TestSuggestSaysItsDefaults(t *testing.T) {
	t.Parallel()
	help := strings.Join(strings.Fields(offline(t).Run("approvals", "suggest", "--help").Stdout), " ")
	for _, want := range []string{"so many files; default 3.", "so many sessions; default 2."} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in %s", want, help)
		}
	}
}
