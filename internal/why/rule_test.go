package why_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/why"
)

// A rule outside of files is described by its origin; any other is shown as its worker names it.
func TestARuleIsForPeople(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"": "",
		`guards.yaml:13 command-guard.deny[1] "make deploy"`:            `guards.yaml:13 command-guard.deny[1] "make deploy"`,
		"guards.yaml:16 path-guard built in: ~/.ssh/**":                 "built into path-guard: ~/.ssh/** (guards.yaml:16)",
		"built-in:coding-agent.yaml:16 path-guard built in: ~/.ssh/**":  "built into path-guard: ~/.ssh/** (starter policy, coding-agent.yaml:16)",
		"built-in:coding-agent.yaml:40 path-guard.outside":              "path-guard.outside (starter policy, coding-agent.yaml:40)",
		"built-in:coding-agent.yaml:9":                                  "starter policy, coding-agent.yaml:9",
		"built-in:coding-agent.yaml:47 command-guard built in: it ends": "built into command-guard: it ends (starter policy, coding-agent.yaml:47)",
	} {
		if got := why.RuleText(rule); got != want {
			t.Errorf("%s: %q; want %q", rule, got, want)
		}
	}
}
