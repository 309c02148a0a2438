package workerfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
)

// TestAConditionThatIsProbablyNotMeantIsAWarning has conditions that compile, each as a match and
// in a rule.
func TestAConditionThatIsProbablyNotMeantIsAWarning(t *testing.T) {
	const alone = "data.tool_name alone is a condition only where it is true or false: compare it, like data.tool_name == 'x', or data.tool_name == true"
	for condition, want := range map[string]struct {
		what   string // empty means no warning
		offset int    // position in the condition
	}{
		"data.tool_name":         {alone, 0},
		"data['tool_name']":      {strings.ReplaceAll(alone, "data.tool_name", "data['tool_name']"), 0},
		"event == 'tool:pree'":   {"there is no standard event tool:pree: did you mean tool:pre?", 9},
		"(event != 'tool:pree')": {"there is no standard event tool:pree: did you mean tool:pre?", 10},
		"('PreToolUse' == event) || event == 'deploy:start'":          {"there is no standard event PreToolUse: did you mean tool:pre?", 1},
		"event in ['tool:pre', 'tool:pots'] && data.tool_name == 'x'": {"there is no standard event tool:pots: did you mean tool:post?", 22},
		"event != 'tool:pre' && event in ['a:b', 'tool:post']":        {},
		"data.flag == true && has(data.x)":                            {},
		"has(data.x)":                                                 {},
		"tool.known":                                                  {},
	} {
		for _, place := range []struct {
			text, path   string
			line, column int
		}{
			{hook("    match: " + condition + "\n    on_failure: deny\n" + anyRule), "hooks[0].match", 4, 12},
			{hook("    cel:\n      rules:\n        - when: " + condition + "\n          inject: no\n"), "hooks[0].cel.rules[0].when", 6, 17},
		} {
			f, err := workerfile.Parse("w.yaml", []byte(place.text), basic.Kinds(kind.Worker{}))
			if err != nil {
				t.Errorf("%s: %v", condition, err)
				continue
			}
			got := errors.Join(f.Hooks[0].Warnings...)
			wanted := fmt.Sprintf("w.yaml:%d:%d: %s: %s", place.line, place.column+want.offset, place.path, want.what)
			if (got == nil) != (want.what == "") || got != nil && got.Error() != wanted {
				t.Errorf("%s: warnings %v; want %s", condition, got, wanted)
			}
		}
	}
}

func TestAnAnswerThatSaysNothingIsAnError(t *testing.T) {
	rule := func(action string) string { return hook("    cel:\n      rules:\n        - " + action + "\n") }
	for action, want := range map[string]string{
		"deny: ''":                                     "w.yaml:6:17: hooks[0].cel.rules[0].deny: the reason is empty: say why",
		"deny: '  '":                                   "w.yaml:6:17: hooks[0].cel.rules[0].deny: the reason is empty: say why",
		"ask: {prompt: a, options: []}":                "w.yaml:6:37: hooks[0].cel.rules[0].ask.options: there is nothing to choose",
		"ask: {prompt: a, options: [Allow, '']}":       "w.yaml:6:45: hooks[0].cel.rules[0].ask.options[1]: an option is a text that a person can choose",
		"ask: {prompt: a, options: [Allow, b, Allow]}": `w.yaml:6:48: hooks[0].cel.rules[0].ask.options[2]: the option "Allow" stands there already`,
		`{when: "tool.command.matches('(')", deny: a}`: "hooks[0].cel.rules[0].when: the pattern of matches is not a valid regular expression (RE2): missing closing ): `(`",
	} {
		if _, err := workerfile.Parse("w.yaml", []byte(rule(action)), basic.Kinds(kind.Worker{})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", action, err, want)
		}
	}
}
