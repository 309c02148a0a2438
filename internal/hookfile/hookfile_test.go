package hookfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/hookfile/kinds"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const good = `
nats: {url: "nats://127.0.0.1:4222", prefix: hooks}
hooks:
  - id: path-guard
    events: [tool:pre, "context:*"]
    priority: -5
    on_failure: deny
    match: data.tool_name in ['Write','Edit']    # in the router
    timeout_ms: 2000
    durable: false
    cel:
      rules:
        - when: data.tool_input.file_path.startsWith('/etc/')
          deny: "Access denied: {{ data.tool_input.file_path }} is protected"
        - when: |
            has(data.tool_input.content) &&
            data.tool_input.content.contains('secret')
          ask: {prompt: "Write it?", options: [Allow once, Deny], timeout: 300, default: deny}
        - when: true
          modify: {set: {"tool_input.mode": 420, tool_input.path: "'/srv' + data.tool_input.file_path"}, remove: [debug]}
          user_message: moved
        - inject: {text: "never reached?", role: system, ephemeral: true}
  - id: linter
    name: Linter
    events:
      - tool:post
    exec:
      command: [sh, -c, "true"]
      env: [PATH, HOME]
      concurrency: 2
`

func TestParse(t *testing.T) {
	f, err := hookfile.Parse("worker.yaml", []byte(good), kinds.All(kind.Worker{}))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	no := false
	want := &hookfile.File{
		NATS: hookfile.NATS{URL: "nats://127.0.0.1:4222", Prefix: "hooks"},
		Hooks: []hookfile.Hook{
			{Kind: "cel", Registration: chain.Registration{
				ID: "path-guard", Events: []string{"tool:pre", "context:*"}, Priority: -5, OnFailure: chain.FailClosed,
				Match: "data.tool_name in ['Write','Edit']", TimeoutMS: 2000, Durable: &no,
			}},
			{Kind: "exec", Hook: kind.Hook{Acts: true}, Registration: chain.Registration{ID: "linter", Name: "Linter", Events: []string{"tool:post"}}},
		},
	}
	if diff := cmp.Diff(want, f, cmpopts.IgnoreFields(hookfile.Hook{}, "Handler"), cmpopts.IgnoreUnexported(hookfile.Hook{})); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	for _, h := range f.Hooks {
		if h.Handler == nil {
			t.Errorf("hook %s has no handler", h.Registration.ID)
		}
	}
}

func TestLoadFindsCommandsBesideTheFile(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho '{\"action\":\"deny\"}'\n"
	if err := os.WriteFile(filepath.Join(dir, "lint.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "worker.yaml")
	if err := os.WriteFile(file, []byte("hooks: [{id: lint, events: ['tool:post'], exec: {command: [./lint.sh, --fast]}}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := hookfile.Load(file, kinds.All(kind.Worker{Dir: dir}))
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	if len(f.Hooks) != 1 || f.Hooks[0].Kind != "exec" {
		t.Errorf("hooks %+v; want the one of kind exec", f.Hooks)
	}
}

func TestLoadSaysWhyAFileCannotBeRead(t *testing.T) {
	if _, err := hookfile.Load(filepath.Join(t.TempDir(), "none.yaml"), kinds.All(kind.Worker{})); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load = %v; want %v", err, os.ErrNotExist)
	}
	big := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(big, make([]byte, 5<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := hookfile.Load(big, kinds.All(kind.Worker{})); err == nil || !strings.Contains(err.Error(), "at most 4194304 are allowed") {
		t.Errorf("Load of 5 MiB = %v; want its limit", err)
	}
}

// hook wraps lines that belong to a hook; they begin in line 4.
func hook(lines string) string { return "hooks:\n  - id: guard\n    events: [tool:pre]\n" + lines }

// rule wraps a rule; it begins in line 6.
func rule(lines string) string { return hook("    cel:\n      rules:\n" + lines) }

const anyRule = "    cel: {rules: [{deny: x}]}\n"

func TestParseNamesThePlaceOfEachError(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                {"", "w.yaml:1:1: the file is empty: it must have hooks"},
		"a comment only":         {"# nothing\n", "w.yaml:1:1: the file is empty"},
		"no hooks":               {"hooks: []\n", "w.yaml:1:8: hooks: the file has no hooks"},
		"a list":                 {"- 1\n", "w.yaml:1:1: must be a mapping (key: value), not a list"},
		"an unknown key":         {"hoks: []\n", `w.yaml:1:1: unknown key "hoks": did you mean "hooks"?`},
		"an unknown key far off": {"nats: {server: x}\nhooks: []\n", `w.yaml:1:8: nats: unknown key "server": known are url, prefix`},
		"a bad prefix":           {"nats: {prefix: 'Not.One'}\nhooks: []\n", "w.yaml:1:16: nats.prefix: prefix"},
		"a tab":                  {"hooks:\n\t- id: x\n", `w.yaml:2:1: found character '\t' that cannot start any token: YAML is indented with spaces`},
		"a list that ends":       {"hooks: [", "w.yaml:1:8: sequence end token ']' not found"},
		"a bare star":            {"hooks:\n  - id: g\n    events: [*]\n" + anyRule, `w.yaml:3:15: unexpected scalar value type: put * in quotes, like ["*"]`},
		"a bare star at the end": {"hooks:\n  - id: g\n    events: [tool:*, *]\n" + anyRule, `w.yaml:3:23: unexpected scalar value type: put * in quotes`},
		"a bare star in a block": {"hooks:\n  - id: g\n    events:\n      - *\n" + anyRule, `w.yaml:4:9: hooks[0].events[0]: a key is a text: quote it: put * in quotes`},
		"a bare star as all":     {"hooks:\n  - id: g\n    events: *\n" + anyRule, `w.yaml:3:13: mapping value is not allowed in this context: put * in quotes`},
		"bare braces alone":      {rule("        - deny: {{ data.x }}\n"), `w.yaml:6:18: could not find flow map content: put a text with {{ }} in quotes`},
		"bare braces":            {rule("        - deny: {{ data.x }} is bad\n"), `w.yaml:6:18: could not find flow map content: put a text with {{ }} in quotes, like "no {{ data.x }}"`},
		"bare braces in a flow":  {rule("        - inject: {text: hello {{ data.x }} }\n"), `w.yaml:6:32: ',' or '}' must be specified: put a text with {{ }} in quotes`},
		"two documents":          {"hooks: []\n---\nhooks: []\n", "w.yaml:3:6: a worker file is one document"},
		"an anchor":              {"hooks: &a []\n", "w.yaml:1:8: hooks: anchors (&), aliases (*)"},
		"a tag":                  {"nats: {url: !!str 5}\n", "w.yaml:1:13: nats.url: anchors (&)"},
		"a number as a key":      {"hooks: []\n5: 6\n", "w.yaml:2:1: a key is a text: quote it"},
		"a key twice":            {"hooks: []\nhooks: []\n", `w.yaml:2:1: mapping key "hooks" already defined at [1:1]`},
		"a key twice, in quotes": {"hooks: []\n'hooks': []\n", `w.yaml:2:1: `},
		"a key without a value":  {"nats:\nhooks: []\n", "w.yaml:1:6: nats: has no value: give it one"},

		"no id":                            {"hooks:\n  - events: [x]\n" + anyRule, `w.yaml:2:11: hooks[0]: hook id ""`},
		"a bad id":                         {"hooks:\n  - id: Guard\n    events: [x]\n" + anyRule, `w.yaml:2:9: hooks[0].id: hook id "Guard"`},
		"an id twice":                      {hook(anyRule) + "  - id: guard\n    events: [x]\n" + anyRule, `w.yaml:5:9: hooks[1].id: hook id "guard" is taken already, in line 2`},
		"a bad event":                      {"hooks:\n  - id: g\n    events: ['tool pre']\n" + anyRule, `w.yaml:3:13: hooks[0].events: hook "g": event name "tool pre"`},
		"a text where a list must be":      {"hooks:\n  - id: g\n    events: tool:pre\n" + anyRule, "w.yaml:3:13: hooks[0].events: must be a list, not a text"},
		"a number where a text must be":    {"hooks:\n  - id: 5\n    events: [x]\n" + anyRule, "w.yaml:2:9: hooks[0].id: must be a text (quote it), not a number"},
		"a fraction as a priority":         {hook("    priority: 1.5\n" + anyRule), "w.yaml:4:15: hooks[0].priority: must be a whole number, not a number"},
		"a text as a flag":                 {hook("    durable: yes\n" + anyRule), "w.yaml:4:14: hooks[0].durable: must be true or false, not a text"},
		"a time-out that is too long":      {hook("    timeout_ms: 60000\n" + anyRule), `w.yaml:4:17: hooks[0].timeout_ms: hook "guard": timeout_ms is 60000`},
		"an unknown policy":                {hook("    on_failure: block\n" + anyRule), "w.yaml:4:17: hooks[0].on_failure: "},
		"a key of a hook that is misspelt": {hook("    prioritty: 1\n" + anyRule), `w.yaml:4:5: hooks[0]: unknown key "prioritty": did you mean "priority"?`},
		"a kind that is misspelt":          {hook("    exce: {command: [sh]}\n"), `w.yaml:4:5: hooks[0]: unknown key "exce": did you mean "exec"?`},
		"no kind":                          {hook(""), "w.yaml:2:7: hooks[0]: the hook has no kind: give it one of builtin, cel, exec"},
		"two kinds":                        {hook(anyRule + "    exec: {command: [sh]}\n"), "w.yaml:2:7: hooks[0]: the hook has both cel and exec"},
		"a contributor":                    {"hooks:\n  - id: g\n    channels: [a.b]\n" + anyRule, "w.yaml:3:15: hooks[0].channels: a hook of a worker file answers events"},
		"an instance":                      {hook("    instance: a\n" + anyRule), "w.yaml:4:15: hooks[0].instance: the worker says this itself"},
		"a match that does not compile":    {hook("    match: event == 'x' && dta.x == 1\n" + anyRule), "w.yaml:4:28: hooks[0].match: undeclared reference to 'dta' (did you mean 'data'?)"},
		"a match that is no condition":     {hook("    match: event\n" + anyRule), "w.yaml:4:12: hooks[0].match: the expression must be true or false"},

		"no rules":                         {hook("    cel: {}\n"), "w.yaml:4:10: hooks[0].cel.rules: a cel hook needs at least one rule"},
		"a rule that is misspelt":          {rule("        - wen: 'true'\n"), `w.yaml:6:11: hooks[0].cel.rules[0]: unknown key "wen": did you mean "when"?`},
		"an empty rule":                    {rule("        - {}\n"), "w.yaml:6:11: hooks[0].cel.rules[0]: the rule is empty"},
		"a rule that is never reached":     {rule("        - deny: a\n        - deny: b\n"), "w.yaml:7:15: hooks[0].cel.rules[1]: this rule is never reached"},
		"a condition that is wrong":        {rule("        - when: data.x.startWith('a')\n          deny: a\n"), "w.yaml:6:33: hooks[0].cel.rules[0].when: undeclared reference to 'startWith'"},
		"a quoted condition":               {rule("        - when: \"event == dta\"\n          deny: a\n"), "w.yaml:6:27: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"a condition in a block":           {rule("        - when: |\n            event == 'x' &&\n              dta\n          deny: a\n"), "w.yaml:8:15: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"a condition that is folded":       {rule("        - when: >-\n            event ==\n            dta\n          deny: a\n"), "w.yaml:6:17: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"a condition with escapes":         {rule("        - when: \"event == '\\u0041' && dta\"\n          deny: a\n"), "w.yaml:6:17: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"a condition after wide letters":   {rule("        - when: event == 'äöü' && dta\n          deny: a\n"), "w.yaml:6:35: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"a condition that is a list":       {rule("        - when: [a]\n          deny: a\n"), "w.yaml:6:17: hooks[0].cel.rules[0].when: must be a text"},
		"an expression in a reason":        {rule("        - deny: \"no {{ data.x }} and {{ dta }}\"\n"), "w.yaml:6:41: hooks[0].cel.rules[0].deny: undeclared reference to 'dta'"},
		"a brace that is not closed":       {rule("        - deny: \"no {{ data.x } y\"\n"), "w.yaml:6:21: hooks[0].cel.rules[0].deny: {{ is not closed"},
		"a reason without a text":          {rule("        - deny:\n"), "w.yaml:6:17: hooks[0].cel.rules[0].deny: has no value"},
		"two actions":                      {rule("        - deny: a\n          inject: {text: b}\n"), "w.yaml:7:19: hooks[0].cel.rules[0].inject: the rule has deny already"},
		"an ask without a prompt":          {rule("        - ask: {default: deny}\n"), "w.yaml:6:16: hooks[0].cel.rules[0].ask: ask needs a prompt"},
		"an ask with a default of its own": {rule("        - ask: {prompt: a, default: yes}\n"), `w.yaml:6:37: hooks[0].cel.rules[0].ask.default: must be "deny" or "allow"`},
		"an ask that doesn't wait":         {rule("        - ask: {prompt: a, timeout: 0}\n"), "w.yaml:6:37: hooks[0].cel.rules[0].ask.timeout: must be a number of seconds above 0"},
		"an ask with an empty option":      {rule("        - ask: {prompt: a, options: [b, '']}\n"), "w.yaml:6:41: hooks[0].cel.rules[0].ask.options[1]: an option is a text"},
		"an inject without a text":         {rule("        - inject: {role: user}\n"), "w.yaml:6:19: hooks[0].cel.rules[0].inject: inject needs a text"},
		"an inject by a stranger":          {rule("        - inject: {text: a, role: boss}\n"), `w.yaml:6:35: hooks[0].cel.rules[0].inject.role: must be "system"`},
		"an inject that appends for good":  {rule("        - inject: {text: a, append_to_last_tool_result: true}\n"), "w.yaml:6:57: hooks[0].cel.rules[0].inject.append_to_last_tool_result: counts only with"},
		"a modify of nothing":              {rule("        - modify: {set: {}}\n"), "w.yaml:6:19: hooks[0].cel.rules[0].modify: modify changes nothing"},
		"a modify with a wrong value":      {rule("        - modify: {set: {tool_input.x: dta}}\n"), `w.yaml:6:40: hooks[0].cel.rules[0].modify.set["tool_input.x"]: undeclared reference to 'dta'`},
		"a modify at a wrong path":         {rule("        - modify: {set: {a..b: '1'}}\n"), `w.yaml:6:32: hooks[0].cel.rules[0].modify.set["a..b"]: path "a..b" has an empty name`},
		"a remove at a wrong path":         {rule("        - modify: {remove: [a, /a~2]}\n"), `w.yaml:6:32: hooks[0].cel.rules[0].modify.remove[1]: path "/a~2" is no JSON Pointer`},
		"a message at a wrong level":       {rule("        - {user_message: a, user_message_level: loud}\n"), `w.yaml:6:49: hooks[0].cel.rules[0].user_message_level: must be "info"`},

		"no command":                 {hook("    exec: {}\n"), "w.yaml:4:11: hooks[0].exec.command: must be a list: the program"},
		"a command that isn't there": {hook("    exec:\n      command: [./none.sh, -x]\n"), "w.yaml:5:17: hooks[0].exec.command[0]: "},
		"a key of exec misspelt":     {hook("    exec: {comand: [sh]}\n"), `w.yaml:4:12: hooks[0].exec: unknown key "comand": did you mean "command"?`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hookfile.Parse("w.yaml", []byte(c.text), kinds.All(kind.Worker{}))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("Parse of\n%s\n= %v\nwant %s", c.text, err, c.want)
			}
			if all := hookfile.Errors(err); len(all) != 1 || all[0].Line < 1 {
				t.Errorf("Errors = %v; want one with a line", all)
			}
		})
	}
}

func TestQuotingIsNotAdvisedWhereItIsThere(t *testing.T) {
	_, err := hookfile.Parse("w.yaml", []byte("hooks:\n  - {id: \"*\", events: ['*', \"{{\"]\n"), kinds.All(kind.Worker{}))
	if want := "w.yaml:2:5: could not find flow mapping end token '}'"; err == nil || err.Error() != want {
		t.Errorf("Parse = %v; want %s", err, want)
	}
}

func TestParseReportsEveryHookThatIsWrong(t *testing.T) {
	_, err := hookfile.Parse("w.yaml", []byte(`hooks:
  - {id: a, events: [x], match: dta, cel: {rules: [{deny: a}]}}
  - {id: b, events: [x], cel: {rules: [{deny: a}]}}
  - {id: c, events: [x], exec: {command: []}}
`), kinds.All(kind.Worker{}))
	var got []string
	for _, e := range hookfile.Errors(err) {
		got = append(got, e.Path)
	}
	if diff := cmp.Diff([]string{"hooks[0].match", "hooks[2].exec.command"}, got); diff != "" {
		t.Errorf("paths of errors (-want +got):\n%s\n%v", diff, err)
	}
}

func TestSnippetMarksThePlace(t *testing.T) {
	_, err := hookfile.Parse("w.yaml", []byte(rule("        - when: data.x.startWith('a')\n          deny: a\n")), kinds.All(kind.Worker{}))
	all := hookfile.Errors(err)
	if len(all) != 1 {
		t.Fatalf("Errors = %v; want one", all)
	}
	want := "    6 |         - when: data.x.startWith('a')\n" +
		"      |                                 ^\n"
	if diff := cmp.Diff(want, all[0].Snippet()); diff != "" {
		t.Errorf("Snippet (-want +got):\n%s", diff)
	}
}

func TestHooksAreTheSameByTheirSections(t *testing.T) {
	parse := func(text string) hookfile.Hook {
		t.Helper()
		f, err := hookfile.Parse("worker.yaml", []byte(text), kinds.All(kind.Worker{}))
		if err != nil {
			t.Fatal(err)
		}
		return f.Hooks[0]
	}
	first := parse(`hooks: [{id: a, events: ["*"], cel: {rules: [{deny: no}]}}]`)
	for text, same := range map[string]bool{
		"# moved\nhooks:\n- id: a\n  priority: 5\n  events: ['*']\n  cel:\n    rules:\n    - deny: 'no' # yes\n": true,
		`hooks: [{id: a, events: ["*"], cel: {rules: [{deny: never}]}}]`:                                         false,
		`hooks: [{id: a, events: ["*"], exec: {command: [sh]}}]`:                                                 false,
	} {
		if got := first.Same(parse(text)); got != same {
			t.Errorf("%s: Same = %v", text, got)
		}
	}
	withFiles := first
	withFiles.Files = []string{"/rules.rego"}
	if withFiles.Same(withFiles) {
		t.Error("a hook that was built from other files is the same without a look at them")
	}
}

func TestAHookKnowsItsPlace(t *testing.T) {
	f, err := hookfile.Parse("worker.yaml", []byte(good), kinds.All(kind.Worker{}))
	if err != nil {
		t.Fatal(err)
	}
	wrong := f.Hooks[1].Wrong(errors.New("refused"))
	if want := "worker.yaml:23:9: hooks[1]: refused"; wrong.Error() != want || !strings.Contains(wrong.Snippet(), "id: linter") {
		t.Errorf("%v\n%s; want %s", wrong, wrong.Snippet(), want)
	}
	if err := (hookfile.Hook{}).Wrong(errors.New("refused")); !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

// TestAHookThatLacksSomethingIsBuiltWhereOnlyTheFileCounts: it acts, says what is missing
// and fails with it.
func TestAHookThatLacksSomethingIsBuiltWhereOnlyTheFileCounts(t *testing.T) {
	const text = "hooks:\n  - {id: a, events: [e], exec: {command: [no-such-program-anywhere]}}\n  - {id: b, events: [e], cel: {rules: [{deny: no}]}}\n"
	opts := kinds.All(kind.Worker{})
	if _, err := hookfile.Parse("w.yaml", []byte(text), opts); err == nil {
		t.Error("a program that is missing is no error")
	}
	opts.FileOnly = true
	f, err := hookfile.Parse("w.yaml", []byte(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	const want = "w.yaml:2:43: hooks[0].exec.command[0]: no-such-program-anywhere: no such program in PATH"
	a, b := f.Hooks[0], f.Hooks[1]
	if a.Lacks == nil || !strings.HasPrefix(a.Lacks.Error(), want) || !a.Acts || b.Lacks != nil {
		t.Errorf("lacks %v and %v; want %s and nothing", a.Lacks, b.Lacks, want)
	}
	if _, err := a.Handler(t.Context(), events.Event{}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Handler: %v; want %s", err, want)
	}
	if got := b.Place("/rules/0"); got != "w.yaml:3, rules[0]" {
		t.Errorf("Place = %s", got)
	}
}

// TestErrorsAreFoundBelowOthers: who wraps what Parse returns loses no place.
func TestErrorsAreFoundBelowOthers(t *testing.T) {
	one, two := &hookfile.Error{Line: 1, Err: errors.New("a")}, &hookfile.Error{Line: 2, Err: errors.New("b")}
	err := fmt.Errorf("load: %w", errors.Join(one, fmt.Errorf("and %w", two), errors.New("c")))
	if got := hookfile.Errors(err); len(got) != 2 || got[0] != one || got[1] != two {
		t.Errorf("Errors = %v; want both", got)
	}
}
