package regohook_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
)

func TestAMemberThatInputNeverHasIsRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.rego": "package hooks\n\ndeny contains \"x\" if {\n  input.tool.clas == \"shell\"\n}\n",
	})
	policy := func(condition string) string {
		return "      policy: |\n        package hooks\n\n        deny contains \"x\" if " + condition + "\n"
	}
	for name, c := range map[string]struct{ section, want string }{
		"of input":           {policy("input.tol.command"), `a.yaml:8:30: hooks[0].rego.policy: rego_type_error: undefined ref: input.tol.command: did you mean input.tool?`},
		"of the tool":        {policy(`startswith(input.tool.comand, "rm")`), "undefined ref: input.tool.comand: did you mean input.tool.command?"},
		"that CEL has":       {policy(`input.tool.path == "/etc"`), "did you mean input.tool.paths?"},
		"by a text":          {policy(`input["tool"]["comand"]`), "did you mean input.tool.command?"},
		"of the data":        {policy(`input.tool_name == "Bash"`), "input has data, emitter, event, event_id, labels, lineage, session_id, source, time, tool; what the agent sent stands in data, such as input.data.tool_name"},
		"that is no mapping": {policy(`input.event.name == "x"`), "undefined ref: input.event.name"},
		"of another type":    {policy(`input.tool.known == "yes"`), "rego_type_error: match error"},
		"in a file":          {"      files: [a.rego]\n", "hooks[0].rego.files: a.rego:4:3: rego_type_error: undefined ref: input.tool.clas: did you mean input.tool.class?"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(dir, c.section); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse = %v; want %s", err, c.want)
			}
		})
	}
}

func TestMembersThatInputMayHaveAreAccepted(t *testing.T) {
	for _, condition := range []string{
		"input.data.anything.at[0].all == 1", "input.data[_] == input.session_id", "some name; input.tool[name] == \"x\"", "not input.tool",
		`"/etc" in input.tool.paths`, "input.tool.known", "input.tool.partial", `object.get(input, ["tool", "command"], "") == ""`,
		`input.time > "2026" ; input.source != input.event_id`, `count(input.tool.urls) > 0`,
	} {
		if _, err := regohook.New(kind.Section{}, regohook.Config{Policy: "package hooks\n\ndeny contains \"x\" if { " + condition + " }"}); err != nil {
			t.Errorf("%s: %v", condition, err)
		}
	}
}

func TestARuleThatNothingReadsIsNoticed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.rego": "package hooks\n\ndeny := false\n\nalow := false\n"})
	for name, c := range map[string]struct{ section, want, warning string }{
		"alone":           {"      policy: |\n        package hooks\n\n        dney contains \"x\" if input.event\n", "hooks[0].rego.query: no policy has the rule data.hooks, nor a rule deny, allow, ask or result below it: it has the rule dney: did you mean deny?", ""},
		"of a package":    {"      policy: |\n        package hook\n\n        deny contains \"x\" if input.event\n", "did you mean data.hook?", ""},
		"beside others":   {"      policy: |\n        package hooks\n\n        deny := false\n\n        dney contains \"x\" if input.event\n\n        dney contains \"y\"\n", "", "a.yaml:10:9: hooks[0].rego.policy: nothing reads the rule dney: did you mean deny?"},
		"in a file":       {"      files: [a.rego]\n", "", "a.yaml:5:14: hooks[0].rego.files: a.rego:5:1: nothing reads the rule alow: did you mean allow?"},
		"that one reads":  {"      policy: |\n        package hooks\n\n        deny contains \"x\" if asks\n\n        asks if input.event\n", "", ""},
		"of another name": {"      policy: |\n        package hooks\n\n        deny contains \"x\" if input.event\n\n        tools := [1]\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := "hooks:\n  - id: a\n    events: ['tool:pre']\n    rego:\n" + c.section + "    on_failure: deny\n"
			f, err := workerfile.Parse("a.yaml", []byte(file), workerfile.Options{
				Kinds: map[string]kind.Kind{"rego": kind.Of("Policies.", regohook.New)}, Worker: kind.Worker{Dir: dir},
			})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("Parse = %v; want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := errors.Join(f.Hooks[0].Warnings...); (got == nil) != (c.warning == "") || got != nil && got.Error() != c.warning {
				t.Errorf("Warnings = %v; want %s", got, c.warning)
			}
		})
	}
}

// A hook that can deny or ask and does not say what holds when it fails is noticed, as one of kind cel is.
func TestAPolicyThatFailsOpenIsNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.rego": "package hooks\n\nask contains \"Really?\"\n"})
	const open = "if the hook fails, the event passes: set on_failure: deny, or on_failure: continue if that is intended"
	policy := func(rules string) string { return "      policy: |\n        package hooks\n        " + rules + "\n" }
	for name, c := range map[string]struct{ section, want string }{
		"it denies":              {policy(`deny contains "x" if input.event`), "a.yaml:7:9: hooks[0].rego.policy: " + open},
		"it allows":              {policy(`allow := false`), "a.yaml:7:9: hooks[0].rego.policy: " + open},
		"it asks, in a file":     {"      files: [a.rego]\n", "a.yaml:5:14: hooks[0].rego.files: a.rego:3:1: " + open},
		"a rule of another name": {policy(`ok := true`) + "      query: data.hooks.ok\n", "a.yaml:7:9: hooks[0].rego.policy: " + open},
		"its result may deny":    {policy(`default result := {"action": "deny"}`), "a.yaml:7:9: hooks[0].rego.policy: " + open},
		"its result injects":     {policy(`default result := {"action": "inject_context", "context_injection": "x"}`), ""},
		"on_failure is continue": {policy(`deny := false`) + "    on_failure: continue\n", ""},
		"on_failure is deny":     {policy(`deny := false`) + "    on_failure: deny\n", ""},
		"it only observes":       {policy(`deny := false`) + "    mode: observe\n", ""},
		"it is in shadow":        {policy(`deny := false`) + "    mode: shadow\n", ""},
	} {
		f, err := parse(dir, c.section)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := errors.Join(f.Hooks[0].Warnings...); (got == nil) != (c.want == "") || got != nil && got.Error() != c.want {
			t.Errorf("%s: warnings %v; want %s", name, got, c.want)
		}
	}
}
