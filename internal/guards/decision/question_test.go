package decision_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// A question shows what it is about on one line, without secrets, and text of an agent can't push
// the rest out of the line.
func TestAQuestionNamesWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool  events.Tool
		line  string
		whole bool
	}{
		"a command":        {events.Tool{Name: "Bash", Command: "git push --force"}, "Allow Bash: git push --force?", true},
		"a secret":         {events.Tool{Name: "Bash", Command: "x AKIAIOSFODNN7EXAMPLE"}, "Allow Bash: x [REDACTED:aws-key]?", true},
		"lines":            {events.Tool{Name: "Bash", Command: "ls\nrm -rf /"}, "Allow Bash: ls ⏎ rm -rf /?", false},
		"control":          {events.Tool{Name: "Bash", Command: "ls\x1b[2K"}, "Allow Bash: ls␛[2K?", false},
		"a path":           {events.Tool{Name: "Edit", Paths: []string{"/etc/hosts"}}, "Allow Edit: /etc/hosts?", true},
		"several paths":    {events.Tool{Name: "Edit", Paths: []string{"/a", "/b"}}, "Allow Edit: /a?", false},
		"an address":       {events.Tool{Name: "WebFetch", URLs: []string{"https://a.example/"}}, "Allow WebFetch: https://a.example/?", true},
		"nothing":          {events.Tool{Name: "Think"}, "Allow Think?", true},
		"what is too long": {events.Tool{Name: "Bash", Command: strings.Repeat("a ", 150)}, "Allow Bash: " + strings.Repeat("a ", 100) + "… (99 more characters)?", false},
	} {
		if line, whole := decision.Question(test.tool); line != test.line || whole != test.whole {
			t.Errorf("%s: %q, %v", name, line, whole)
		}
	}
}
