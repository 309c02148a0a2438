package workerfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
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
	f, err := workerfile.Parse("worker.yaml", []byte(good), basic.Kinds(kind.Worker{}))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	no := false
	want := &workerfile.File{
		NATS: workerfile.NATS{URL: "nats://127.0.0.1:4222", Prefix: "hooks"},
		Hooks: []workerfile.Hook{
			{Kind: "cel", Registration: chain.Registration{
				ID: "path-guard", Events: []string{"tool:pre", "context:*"}, Priority: -5, OnFailure: chain.FailClosed,
				Match: "data.tool_name in ['Write','Edit']", TimeoutMS: 2000, Durable: &no,
			}},
			{Kind: "exec", Hook: kind.Hook{Acts: true}, Registration: chain.Registration{ID: "linter", Name: "Linter", Events: []string{"tool:post"}}},
		},
	}
	if diff := cmp.Diff(want, f, cmpopts.IgnoreFields(workerfile.Hook{}, "Handler", "Condition"), cmpopts.IgnoreUnexported(workerfile.Hook{})); diff != "" {
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
	f, err := workerfile.Load(file, basic.Kinds(kind.Worker{Dir: dir}))
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	if len(f.Hooks) != 1 || f.Hooks[0].Kind != "exec" {
		t.Errorf("hooks %+v; want the one of kind exec", f.Hooks)
	}
}

func TestLoadSaysWhyAFileCannotBeRead(t *testing.T) {
	if _, err := workerfile.Load(filepath.Join(t.TempDir(), "none.yaml"), basic.Kinds(kind.Worker{})); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load = %v; want %v", err, os.ErrNotExist)
	}
	big := filepath.Join(t.TempDir(), "big.yaml")
	if err := os.WriteFile(big, make([]byte, 5<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := workerfile.Load(big, basic.Kinds(kind.Worker{})); err == nil || !strings.Contains(err.Error(), "at most 4194304 are allowed") {
		t.Errorf("Load of 5 MiB = %v; want its limit", err)
	}
}

// hook wraps the lines of a hook, which begin on line 4.
func hook(lines string) string { return "hooks:\n  - id: guard\n    events: [tool:pre]\n" + lines }

// rule wraps a rule, which begins on line 6.
func rule(lines string) string { return hook("    cel:\n      rules:\n" + lines) }

const anyRule = "    cel: {rules: [{deny: x}]}\n"

func TestParseNamesThePlaceOfEachError(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                {"", "w.yaml:1:1: the file is empty: it must have hooks"},
		"a comment only":         {"# nothing\n", "w.yaml:1:1: the file is empty"},
		"no hooks":               {"hooks: []\n", "w.yaml:1:8: hooks: the file has no hooks"},
		"a list":                 {"- 1\n", "w.yaml:1:1: must be a mapping (key: value), not a list"},
		"an unknown key":         {"hoks: []\n", `w.yaml:1:1: unknown key "hoks": did you mean "hooks"?`},
		"an unknown key far off": {"nats: {server: x}\n" + hook(anyRule), `w.yaml:1:8: nats: unknown key "server": known are url, prefix`},
		"a bad prefix":           {"nats: {prefix: 'Not.One'}\n" + hook(anyRule), "w.yaml:1:16: nats.prefix: prefix"},
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
		"a tag":                  {"nats: {url: !!str 5}\n" + hook(anyRule), `w.yaml:1:13: nats.url: tags (!) are not allowed: put a text that begins with ! in quotes, like "!has(data.x)"`},
		"a number as a key":      {"hooks: []\n5: 6\n", "w.yaml:2:1: a key is a text: quote it"},
		"a key twice":            {hook(anyRule + "    id: x\n"), `w.yaml:5:5: hooks[0]: the key "id" stands in line 2 already`},
		"a key twice, in quotes": {hook(anyRule + "    'id': x\n"), `w.yaml:5:5: hooks[0]: the key "id" stands in line 2 already`},
		"a key without a value":  {"nats:\n" + hook(anyRule), "w.yaml:1:6: nats: has no value: give it one"},

		"no id":                            {"hooks:\n  - events: [x]\n" + anyRule, `w.yaml:2:5: hooks[0]: the hook has no id: give it one`},
		"a bad id":                         {"hooks:\n  - id: Guard\n    events: [x]\n" + anyRule, `w.yaml:2:9: hooks[0].id: hook id "Guard"`},
		"an id twice":                      {hook(anyRule) + "  - id: guard\n    events: [x]\n" + anyRule, `w.yaml:5:9: hooks[1].id: hook id "guard" is taken already, in line 2`},
		"a bad event":                      {"hooks:\n  - id: g\n    events: ['tool pre']\n" + anyRule, `w.yaml:3:14: hooks[0].events[0]: there is no standard event tool pre: did you mean tool:pre?`},
		"a text where a list must be":      {"hooks:\n  - id: g\n    events: tool:pre\n" + anyRule, "w.yaml:3:13: hooks[0].events: must be a list, not a text: put it in brackets, like [tool:pre]"},
		"a number where a text must be":    {"hooks:\n  - id: 5\n    events: [x]\n" + anyRule, "w.yaml:2:9: hooks[0].id: must be a text (quote it), not a number"},
		"a text as a limit":                {"hooks:\n  - id: a\n    builtin: {limits: {rules: [{calls: many}]}}\n", "w.yaml:3:40: hooks[0].builtin.limits.rules[0].calls: must be a whole number, not a text"},
		"a time as a time-out":             {hook("    timeout_ms: 5s\n" + anyRule), "w.yaml:4:17: hooks[0].timeout_ms: must be a whole number, not a text: 5s is written 5000"},
		"a number that is too large":       {hook("    priority: 99999999999999999999\n" + anyRule), "w.yaml:4:15: hooks[0].priority: must be a whole number, not a text: the number is too large"},
		"a fraction as a priority":         {hook("    priority: 1.5\n" + anyRule), "w.yaml:4:15: hooks[0].priority: must be a whole number, not a number"},
		"a text as a flag":                 {hook("    durable: yes\n" + anyRule), "w.yaml:4:14: hooks[0].durable: must be true or false, not a text"},
		"a time-out that is too long":      {hook("    timeout_ms: 60000\n" + anyRule), `w.yaml:4:17: hooks[0].timeout_ms: timeout_ms is 60000`},
		"an unknown policy":                {hook("    on_failure: block\n" + anyRule), "w.yaml:4:17: hooks[0].on_failure: "},
		"a key of a hook that is misspelt": {hook("    prioritty: 1\n" + anyRule), `w.yaml:4:5: hooks[0]: unknown key "prioritty": did you mean "priority"?`},
		"a kind that is misspelt":          {hook("    exce: {command: [sh]}\n"), `w.yaml:4:5: hooks[0]: unknown key "exce": did you mean "exec"?`},
		"no kind":                          {hook(""), "w.yaml:2:5: hooks[0]: the hook has no kind: give it one of builtin, cel, exec"},
		"two kinds":                        {hook(anyRule + "    exec: {command: [sh]}\n"), "w.yaml:2:5: hooks[0]: the hook has both cel and exec"},
		"a contributor":                    {"hooks:\n  - id: g\n    channels: [a.b]\n" + anyRule, "w.yaml:3:15: hooks[0].channels: a hook of a worker file answers events: what gives to channels stands under contributors"},
		"an instance":                      {hook("    instance: a\n" + anyRule), "w.yaml:4:15: hooks[0].instance: the worker says this itself"},
		"a match that does not compile":    {hook("    match: event == 'x' && dta.x == 1\n" + anyRule), "w.yaml:4:28: hooks[0].match: undeclared reference to 'dta' (did you mean 'data'?)"},
		"a match that is no condition":     {hook("    match: event\n" + anyRule), "w.yaml:4:12: hooks[0].match: the expression must be true or false"},

		"no rules":                         {hook("    cel: {}\n"), "w.yaml:4:10: hooks[0].cel.rules: a cel hook needs at least one rule"},
		"a rule that is misspelt":          {rule("        - wen: 'true'\n"), `w.yaml:6:11: hooks[0].cel.rules[0]: unknown key "wen": did you mean "when"?`},
		"an empty rule":                    {rule("        - {}\n"), "w.yaml:6:11: hooks[0].cel.rules[0]: the rule is empty"},
		"a rule that is never reached":     {rule("        - deny: a\n        - deny: b\n"), "w.yaml:6:11: hooks[0].cel.rules[0]: this rule has no when and so always holds: those after it are never reached"},
		"a condition that is wrong":        {rule("        - when: data.x.startWith('a')\n          deny: a\n"), "w.yaml:6:33: hooks[0].cel.rules[0].when: undeclared reference to 'startWith'"},
		"a quoted condition":               {rule("        - when: \"event == dta\"\n          deny: a\n"), "w.yaml:6:27: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"a condition in a block":           {rule("        - when: |\n            event == 'x' &&\n              dta\n          deny: a\n"), "w.yaml:8:15: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"a condition that is folded":       {rule("        - when: >-\n            event ==\n            dta\n          deny: a\n"), "w.yaml:8:13: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"a condition with escapes":         {rule("        - when: \"event == '\\u0041' && dta\"\n          deny: a\n"), "w.yaml:6:39: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
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
		"an inject of no text":             {rule("        - inject: ''\n"), "w.yaml:6:19: hooks[0].cel.rules[0].inject: inject needs a text"},
		"an inject of a bad template":      {rule("        - inject: a {{ b\n"), "w.yaml:6:21: hooks[0].cel.rules[0].inject: "},
		"an inject of another type":        {rule("        - inject: [a]\n"), "w.yaml:6:19: hooks[0].cel.rules[0].inject: must be"},
		"an unknown key of an inject":      {rule("        - inject: {txt: a}\n"), "w.yaml:6:20: hooks[0].cel.rules[0].inject: unknown key \"txt\""},
		"an inject by a stranger":          {rule("        - inject: {text: a, role: boss}\n"), `w.yaml:6:35: hooks[0].cel.rules[0].inject.role: must be "system"`},
		"an inject that appends for good":  {rule("        - inject: {text: a, append_to_last_tool_result: true}\n"), "w.yaml:6:57: hooks[0].cel.rules[0].inject.append_to_last_tool_result: counts only with"},
		"a modify of nothing":              {rule("        - modify: {set: {}}\n"), "w.yaml:6:19: hooks[0].cel.rules[0].modify: modify changes nothing"},
		"a modify with a wrong value":      {rule("        - modify: {set: {tool_input.x: dta}}\n"), `w.yaml:6:40: hooks[0].cel.rules[0].modify.set["tool_input.x"]: undeclared reference to 'dta'`},
		"a modify at a wrong path":         {rule("        - modify: {set: {a..b: '1'}}\n"), `w.yaml:6:26: hooks[0].cel.rules[0].modify.set["a..b"]: path "a..b" has an empty name`},
		"a remove at a wrong path":         {rule("        - modify: {remove: [a, /a~2]}\n"), `w.yaml:6:32: hooks[0].cel.rules[0].modify.remove[1]: path "/a~2" is not a JSON Pointer`},
		"a message at a wrong level":       {rule("        - {user_message: a, user_message_level: loud}\n"), `w.yaml:6:49: hooks[0].cel.rules[0].user_message_level: must be "info"`},

		"a list without a space":         {"hooks:\n  - id: g\n    events: {tool:pre}\n" + anyRule, `w.yaml:3:13: hooks[0].events: must be a list, not a mapping: put texts in brackets and quotes, like ["a", "b"]`},
		"an event with a space":          {"hooks:\n  - id: g\n    events: [tool: pre]\n" + anyRule, `w.yaml:3:14: hooks[0].events[0]: must be a text (quote it), not a mapping: put a text with a colon in quotes, like "tool:pre"`},
		"an event within braces":         {"hooks: [{id: g, events: [tool:pre], cel: {rules: [{deny: x}]}}]\n", `w.yaml:1:26: hooks[0].events[0]: must be a text (quote it), not a mapping: put a text with a colon in quotes, like "tool:pre"`},
		"a domain within braces":         {"hooks: [{id: g, events: [tool:*]}]\n", "w.yaml:1:32: unexpected scalar value type: put * in quotes"},
		"a mapping of hooks":             {"hooks:\n  g:\n    events: [x]\n", `w.yaml:2:3: hooks: must be a list, not a mapping: each of its items begins with "- "`},
		"a list of hooks alone":          {"- id: g\n", `w.yaml:1:1: must be a mapping (key: value), not a list: a worker file begins with "hooks:"`},
		"a reason with a colon":          {rule("        - deny: yes: no\n"), "w.yaml:6:17: mapping value is not allowed in this context: put a text with a colon and a space in quotes"},
		"a condition that begins quoted": {rule("        - when: 'x' == event\n          deny: a\n"), "w.yaml:6:21: value is not allowed in this context. map key-value is pre-defined: a text that begins with a quote"},
		"a condition that begins with !": {rule("        - when: !has(data.x)\n          deny: a\n"), "w.yaml:6:17: hooks[0].cel.rules[0].when: tags (!) are not allowed: put a text that begins with ! in quotes"},
		"a line that is too deep":        {"hooks:\n  - id: g\n     events: [x]\n", "w.yaml:2:9: mapping value is not allowed in this context: the keys of one mapping begin in the same column"},
		"a line that is not deep enough": {"hooks:\n  - id: g\n   events: [x]\n", "w.yaml:3:4: value is not allowed in this context: the keys of one mapping begin in the same column"},
		"a key without a space":          {"hooks:\n  - id:g\n    events: [x]\n", "w.yaml:2:5: unexpected key name: a space follows the colon of a key"},
		"a builtin that is misspelt":     {hook("    builtin: path-gard\n"), `w.yaml:4:14: hooks[0].builtin: there is no builtin "path-gard": did you mean "path-guard"?`},
		"one with options":               {hook("    builtin: {path-gard: {}}\n"), `w.yaml:4:15: hooks[0].builtin.path-gard: there is no builtin "path-gard": did you mean "path-guard"?`},
		"an option that is misspelt":     {hook("    builtin:\n      path-guard:\n        denny: [x]\n"), `w.yaml:6:9: hooks[0].builtin.path-guard: unknown key "denny": did you mean "deny"?`},

		"a key of a rule beside its kind":  {hook("    when: data.x\n" + anyRule), `w.yaml:4:5: hooks[0]: unknown key "when": it belongs to cel.rules: indent it deeper, below that`},
		"a key of a kind beside it":        {hook("    command: [sh]\n" + anyRule), `w.yaml:4:5: hooks[0]: unknown key "command": it belongs to exec: indent it deeper, below that`},
		"a kind beside the hooks":          {hook(anyRule) + "cel: {}\n", `w.yaml:5:1: unknown key "cel": it belongs to a hook: indent it deeper, below that`},
		"a key of an action beside it":     {rule("        - deny: a\n          unlabel: [x]\n"), `w.yaml:7:11: hooks[0].cel.rules[0]: unknown key "unlabel": it belongs to ask: indent it deeper, below that`},
		"a text where a mapping must be":   {rule("        - ask: Really?\n"), "w.yaml:6:16: hooks[0].cel.rules[0].ask: must be a mapping (key: value), not a text: its keys are prompt, options, timeout, default, key, unlabel"},
		"a builtin that nobody thinks of":  {hook("    builtin: rate-limiter\n"), `w.yaml:4:14: hooks[0].builtin: there is no builtin "rate-limiter": known are approval-policy, `},
		"a space that does not break":      {hook("\u00a0   name: x\n" + anyRule), "w.yaml:4:11: mapping value is not allowed in this context: the line has a space that does not break (U+00A0)"},
		"a text with a reserved character": {rule("        - deny: @here\n"), "w.yaml:6:17: '@' is a reserved character: put the text in quotes"},
		"a variable that is a member":      {rule("        - when: tool_name == 'Bash'\n          deny: a\n"), "w.yaml:6:17: hooks[0].cel.rules[0].when: undeclared reference to 'tool_name': an event has event, session_id, data, tool, labels, emitter and lineage, such as data.tool_name"},

		"UTF-16":                     {"\xff\xfeh\x00o\x00", "w.yaml:1:1: the file is in UTF-16, as editors on Windows save it: save it as UTF-8"},
		"UTF-16, the other way":      {"\xfe\xff\x00h\x00o", "w.yaml:1:1: the file is in UTF-16"},
		"UTF-16 without its mark":    {"h\x00o\x00", "w.yaml:1:1: the file is in UTF-16"},
		"Latin-1":                    {hook("    name: Pr\xfcfer\n" + anyRule), "w.yaml:4:13: the byte fc is not UTF-8: save the file as UTF-8"},
		"a NUL":                      {hook("    name: a\x00b\n" + anyRule), `w.yaml:4:12: the character U+0000 can't stand in YAML: remove it, or write it "\u0000" in double quotes`},
		"an error after a mark":      {"\ufeffhoks: []\n", `w.yaml:1:1: unknown key "hoks": did you mean "hooks"?`},
		"an error in a Windows file": {strings.ReplaceAll(rule("        - when: |\n            event == 'x' &&\n              dta\n          deny: a\n"), "\n", "\r\n"), "w.yaml:8:15: hooks[0].cel.rules[0].when: undeclared reference to 'dta'"},
		"an error in an old Mac's":   {"hooks:\r  - {id: g, event: [x]}\r", `w.yaml:2:13: hooks[0]: unknown key "event": did you mean "events"?`},
		"a tab in a block":           {hook("    cel:\n      rules:\n      \t- deny: a\n"), `w.yaml:6:7: found character '\t' that cannot start any token: YAML is indented with spaces, not tabs`},

		"no command":                 {hook("    exec: {}\n"), "w.yaml:4:11: hooks[0].exec.command: must be a list: the program"},
		"a command that isn't there": {hook("    exec:\n      command: [./none.sh, -x]\n"), "w.yaml:5:17: hooks[0].exec.command[0]: "},
		"a key of exec misspelt":     {hook("    exec: {comand: [sh]}\n"), `w.yaml:4:12: hooks[0].exec: unknown key "comand": did you mean "command"?`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := workerfile.Parse("w.yaml", []byte(c.text), basic.Kinds(kind.Worker{}))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("Parse of\n%s\n= %v\nwant %s", c.text, err, c.want)
			}
			if all := workerfile.Errors(err); len(all) != 1 || all[0].Line < 1 {
				t.Errorf("Errors = %v; want one with a line", all)
			}
		})
	}
}

func TestTheLineOfAnExpressionIsNamedHoweverItIsWritten(t *testing.T) {
	const indent = "            "
	for name, c := range map[string]struct{ when, want string }{
		"literal":                   {"|\n" + indent + "event == 'x' &&\n" + indent + "  dta\n", "8:15"},
		"literal, stripped":         {"|-\n" + indent + "true &&\n" + indent + "dta\n", "8:13"},
		"literal, kept":             {"|+\n" + indent + "true &&\n" + indent + "dta\n\n", "8:13"},
		"literal with a comment":    {"| # why\n" + indent + "true &&\n" + indent + "dta\n", "8:13"},
		"literal with blank lines":  {"|\n\n" + indent + "true &&\n\n" + indent + "dta\n", "10:13"},
		"literal, indented":         {"|2\n" + indent + "  true &&\n" + indent + "dta\n", "8:13"},
		"literal that repeats":      {"|\n" + indent + "data.dta ==\n" + indent + "  data.dta + dta\n", "8:26"},
		"folded":                    {">\n" + indent + "event == 'x' &&\n" + indent + "dta\n", "8:13"},
		"folded, stripped":          {">-\n" + indent + "true &&\n" + indent + "true && dta\n", "8:21"},
		"folded, indented":          {">2-\n" + indent + "true &&\n" + indent + "dta\n", "8:13"},
		"folded with deeper lines":  {">\n" + indent + "true &&\n\n" + indent + "  true &&\n" + indent + "dta\n", "10:13"},
		"plain":                     {"true &&\n" + indent + "dta\n", "7:13"},
		"plain below its key":       {"\n" + indent + "true &&\n" + indent + "dta\n", "8:13"},
		"double quotes":             {"\"true &&\n" + indent + "dta\"\n", "7:13"},
		"double quotes, joined":     {"\"true && 'é\\u00e9\\x41\\\"' != '' && \\\n" + indent + "  dta\"\n", "7:15"},
		"single quotes":             {"'event == ''x'' &&\n" + indent + "dta'\n", "7:13"},
		"single quotes in one line": {"'event == ''x'' && dta'\n", "6:36"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := workerfile.Parse("w.yaml", []byte(rule("        - when: "+c.when+"          deny: a\n")), basic.Kinds(kind.Worker{}))
			if want := "w.yaml:" + c.want + ": hooks[0].cel.rules[0].when: undeclared reference to 'dta' (did you mean 'data'?)"; err == nil || err.Error() != want {
				t.Errorf("Parse = %v\nwant %s", err, want)
			}
		})
	}
}

func TestEveryFaultOfAHookIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"of all sorts": {`hooks:
  - id: Guard
    events: [tool pre, "a b"]
    prioritty: 1
    timeout_ms: ten
    mode: loud
    match: dta
    cel:
      rules:
        - when: dta
          deny: "{{ dta }}"
          user_message_level: loud
        - {when: [a], deny: b}
        - {when: foo, den: b}
        - {when: "true", modify: {set: {a: dta, b..c: foo}, remove: [/~2]}}
nets: {}
`, []string{
			"2:9: hooks[0].id", "3:14: hooks[0].events[0]", "3:24: hooks[0].events[1]", "4:5: hooks[0]", "5:17: hooks[0].timeout_ms", "6:11: hooks[0].mode", "7:12: hooks[0].match",
			"10:17: hooks[0].cel.rules[0].when", "11:21: hooks[0].cel.rules[0].deny", "12:31: hooks[0].cel.rules[0].user_message_level",
			"13:18: hooks[0].cel.rules[1].when", "14:18: hooks[0].cel.rules[2].when", "14:23: hooks[0].cel.rules[2]",
			`15:44: hooks[0].cel.rules[3].modify.set.a`, `15:49: hooks[0].cel.rules[3].modify.set["b..c"]`, "15:70: hooks[0].cel.rules[3].modify.remove[0]", "16:1: ",
		}},
		"what is missing":             {"hooks:\n  - priority: x\n", []string{"2:5: hooks[0]", "2:5: hooks[0]", "2:5: hooks[0]", "2:15: hooks[0].priority"}},
		"values that are none":        {hook("    name:\n    match: *x\n    cel:\n"), []string{"4:10: hooks[0].name", "5:12: hooks[0].match", "6:10: hooks[0].cel"}},
		"keys twice":                  {hook("    name: a\n    name: b\n    match: dta\n" + anyRule), []string{"5:5: hooks[0]", "6:12: hooks[0].match"}},
		"no follow-up of a key":       {"hoks: []\n", []string{"1:1: "}},
		"no follow-up of a section":   {hook("    exec: {comand: [sh]}\n"), []string{"4:12: hooks[0].exec"}},
		"no follow-up of a condition": {rule("        - wen: data.x\n          deny: a\n        - deny: b\n"), []string{"6:11: hooks[0].cel.rules[0]"}},
		"no follow-up of a type":      {hook("    cel: deny\n"), []string{"4:10: hooks[0].cel"}},
		"no follow-up of a builtin":   {"hooks: [{id: a, builtin: nobody-knows-it}]\n", []string{"1:26: hooks[0].builtin"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := workerfile.Parse("w.yaml", []byte(c.text), basic.Kinds(kind.Worker{}))
			var got []string
			for _, e := range workerfile.Errors(err) {
				got = append(got, fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Path))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("places of errors (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

func TestAFileOfAnyEditorIsRead(t *testing.T) {
	for name, text := range map[string]string{"a mark": "\ufeff" + good, "Windows": strings.ReplaceAll(good, "\n", "\r\n"), "an old Mac": strings.ReplaceAll(good, "\n", "\r")} {
		if f, err := workerfile.Parse("w.yaml", []byte(text), basic.Kinds(kind.Worker{})); err != nil || len(f.Hooks) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLikelyMisspellingsAreWarnings(t *testing.T) {
	for events, want := range map[string]string{
		"[tool:post, 'tool:per']": "w.yaml:3:25: hooks[0].events[1]: there is no standard event tool:per: did you mean tool:pre?",
		"[tool_pre]":              "w.yaml:3:14: hooks[0].events[0]: there is no standard event tool_pre: did you mean tool:pre?",
		"[PreToolUse]":            "w.yaml:3:14: hooks[0].events[0]: there is no standard event PreToolUse: did you mean tool:pre?",
		"['sesion:*']":            "w.yaml:3:14: hooks[0].events[0]: there is no standard event sesion:*: did you mean session:*?",
		"[tool:post_compile, deploy:start, 'deploy:*', tool:use, error:tool, 'tool:*', '*']": "",
	} {
		f, err := workerfile.Parse("w.yaml", []byte("hooks:\n  - id: g\n    events: "+events+"\n    on_failure: deny\n"+anyRule), basic.Kinds(kind.Worker{}))
		if err != nil {
			t.Fatal(err)
		}
		if got := errors.Join(f.Hooks[0].Warnings...); (got == nil) != (want == "") || got != nil && got.Error() != want {
			t.Errorf("%s: warnings %v; want %s", events, got, want)
		}
	}
}

// An event that is misspelt and invalid is one error, which says what was meant, and no warning.
func TestAMisspeltEventIsReportedOnce(t *testing.T) {
	t.Parallel()
	for text, place := range map[string]string{
		"hooks:\n  - id: g\n    events: [tool.pre]\n    on_failure: deny\n" + anyRule:                                             "w.yaml:3:14: hooks[0].events[0]",
		hook("    on_failure: deny\n"+anyRule) + "tests:\n  - name: a\n    event: tool.pre\n    expect: {action: deny}\n":         "w.yaml:8:12: tests[0].event",
		hook("    on_failure: deny\n"+anyRule) + "tests:\n  - name: a\n    events: [{event: tool.pre, expect: {action: deny}}]\n": "w.yaml:8:22: tests[0].events[0].event",
	} {
		_, err := workerfile.Parse("w.yaml", []byte(text), basic.Kinds(kind.Worker{}))
		if want := place + ": there is no standard event tool.pre: did you mean tool:pre?"; err == nil || err.Error() != want {
			t.Errorf("%s: error %v; want %s", text, err, want)
		}
		if warnings := workerfile.Warnings(err); len(warnings) > 0 {
			t.Errorf("%s: warnings %v; want none", text, warnings)
		}
	}
}

// The on_failure of a hook that may take as long as its chain never applies, and a key that is not
// a template is the same for every call.
func TestLongTimeoutsAndConstantKeysAreWarnings(t *testing.T) {
	t.Parallel()
	const late = "w.yaml:4:17: hooks[0].timeout_ms: it may take 30s, and the chain ends after 30s: its on_failure is never reached, the event is refused with 504"
	ask := func(key string) string {
		return "    cel:\n      rules:\n        - ask: {prompt: Really?, key: '" + key + "'}\n    on_failure: deny\n"
	}
	for text, want := range map[string]string{
		"    timeout_ms: 30000\n    on_failure: deny\n" + anyRule: late,
		"    timeout_ms: 29999\n    on_failure: deny\n" + anyRule: "",
		"    on_failure: continue\n" + anyRule:                    "",
		anyRule:                                                   "w.yaml:4:19: hooks[0].cel.rules[0]: if the hook fails, the event passes: set on_failure: deny, or on_failure: continue if that is intended",
		"    timeout_ms: 30000\n    mode: shadow\n" + anyRule:     "",
		ask("data.k"):       `w.yaml:6:39: hooks[0].cel.rules[0].ask.key: the key is the same for every call, so "Allow always" holds for all of them: write an expression in {{ }}, like {{ data.k }}`,
		ask("{{ data.k }}"): "",
		"    async: true\n    on_failure: deny\n    cel: {rules: [{inject: x}]}\n":     "w.yaml:5:17: hooks[0].on_failure: on_failure: deny denies nothing: with mode: async the hook is called after the answer",
		"    mode: observe\n" + anyRule:                                                "w.yaml:5:26: hooks[0].cel.rules[0].deny: it counts for nothing: with mode: observe the hook is called after the answer",
		"    mode: shadow\n    on_failure: deny\n" + anyRule:                           "",
		"    exec: {command: [cat], startup_ms: 5}\n":                                  "w.yaml:4:40: hooks[0].exec.startup_ms: it counts only with resident: true",
		"    exec: {command: [cat], startup_ms: 5, resident: true}\n    priority: 1\n": "",
	} {
		f, err := workerfile.Parse("w.yaml", []byte(hook(text)), basic.Kinds(kind.Worker{}))
		if err != nil {
			t.Fatal(err)
		}
		if got := errors.Join(f.Hooks[0].Warnings...); (got == nil) != (want == "") || got != nil && got.Error() != want {
			t.Errorf("%s warnings %v; want %s", text, got, want)
		}
	}
}

func TestABuiltinThatDoesNothingHereIsAWarning(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for section, want := range map[string]string{
		"builtin: git-status":                                "w.yaml:3:14: hooks[0].builtin: there is no git here",
		"builtin: {git-status: {max_files: 3}}":              "w.yaml:3:27: hooks[0].builtin.git-status: there is no git here",
		"builtin: linter-feedback":                           "w.yaml:3:14: hooks[0].builtin: some linters are not installed here",
		"builtin: notify":                                    "w.yaml:3:14: hooks[0].builtin: nobody is notified",
		"mode: enforce\n    builtin: {event-log: {keep: 3}}": "w.yaml:4:26: hooks[0].builtin.event-log: answers nothing",
	} {
		f, err := workerfile.Parse("w.yaml", []byte("hooks:\n  - id: g\n    "+section+"\n"), basic.Kinds(kind.Worker{Dir: t.TempDir()}))
		if err != nil {
			t.Fatal(err)
		}
		if got := errors.Join(f.Hooks[0].Warnings...); got == nil || !strings.HasPrefix(got.Error(), want) {
			t.Errorf("%s: warnings %v; want %s", section, got, want)
		}
		f.Close()
	}
}

func TestQuotingIsNotAdvisedWhereItIsThere(t *testing.T) {
	_, err := workerfile.Parse("w.yaml", []byte("hooks:\n  - {id: \"*\", events: ['*', \"{{\"]\n"), basic.Kinds(kind.Worker{}))
	if want := "w.yaml:2:5: could not find flow mapping end token '}'"; err == nil || err.Error() != want {
		t.Errorf("Parse = %v; want %s", err, want)
	}
}

func TestParseReportsEveryHookThatIsWrong(t *testing.T) {
	_, err := workerfile.Parse("w.yaml", []byte(`hooks:
  - {id: a, events: [x], match: dta, cel: {rules: [{deny: a}]}}
  - {id: b, events: [x], cel: {rules: [{deny: a}]}}
  - {id: c, events: [x], exec: {command: []}}
`), basic.Kinds(kind.Worker{}))
	var got []string
	for _, e := range workerfile.Errors(err) {
		got = append(got, e.Path)
	}
	if diff := cmp.Diff([]string{"hooks[0].match", "hooks[2].exec.command"}, got); diff != "" {
		t.Errorf("paths of errors (-want +got):\n%s\n%v", diff, err)
	}
}

// A secret in place of a variable's name must not reach the log, nor the event about a failed
// reload.
func TestSecretsInAFileAreNotShown(t *testing.T) {
	for _, section := range []string{
		"    exec: {command: [sh], env: [TOKEN=s3cret]}\n",
		"    http: {url: https://a.example/, headers: {Authorization: Bearer s3cret}}\n",
		"    http: {url: https://a.example/, headers: {Authorization: s3cret}}\n",
		"    http: {url: 'https://bob:s3cret@a.example/'}\n",
		"    http: {url: https://a.example/, secret_env: s3cret}\n",
		"    builtin: {notify: {url_env: 'https://a.example/s3cret'}}\n",
	} {
		_, err := workerfile.Parse("w.yaml", []byte(hook(section)), basic.Kinds(kind.Worker{}))
		all := workerfile.Errors(err)
		if len(all) != 1 {
			t.Fatalf("%s: %v", section, err)
		}
		if text := all[0].Error() + all[0].Snippet(); strings.Contains(text, "s3cret") {
			t.Errorf("shown: %s", text)
		}
	}
}

func TestSnippetMarksThePlace(t *testing.T) {
	_, err := workerfile.Parse("w.yaml", []byte(rule("        - when: data.x.startWith('a')\n          deny: a\n")), basic.Kinds(kind.Worker{}))
	all := workerfile.Errors(err)
	if len(all) != 1 {
		t.Fatalf("Errors = %v; want one", all)
	}
	want := "    6 |         - when: data.x.startWith('a')\n" +
		"      |                                 ^\n"
	if diff := cmp.Diff(want, all[0].Snippet()); diff != "" {
		t.Errorf("Snippet (-want +got):\n%s", diff)
	}
}

// The author of a file can't control the terminal.
func TestSnippetsMoveNoCursor(t *testing.T) {
	for line, want := range map[string]string{
		"\tevnts: x":                      " evnts: x\n",
		"  - {id: \x1b[2Ja, evnts: [b]}":  "  - {id: ␛[2Ja, evnts: [b]}\n",
		"  - {id: a\u202e, evnts: [b]}":   "  - {id: a\ufffd, evnts: [b]}\n",
		"  - {id: a\u009b2J, evnts: [b]}": "  - {id: a\ufffd2J, evnts: [b]}\n",
	} {
		_, err := workerfile.Parse("w.yaml", []byte("hooks:\n"+line+"\n"), basic.Kinds(kind.Worker{}))
		all := workerfile.Errors(err)
		if len(all) == 0 {
			t.Errorf("%q has no errors: %v", line, err)
			continue
		}
		for _, e := range all {
			shown, mark, _ := strings.Cut(e.Snippet(), "\n      | ")
			if shown+"\n" != "    2 | "+want || strings.Index(mark, "^") != e.Column-1 {
				t.Errorf("%q: %q; want %q", line, e.Snippet(), want)
			}
		}
	}
	_, err := workerfile.Parse("w.yaml", []byte("hooks:\n  - {id: a, events: [b], cel: {rules: [{modify: {set: {\"\\ec\": \"'\"}}}]}}\n"), basic.Kinds(kind.Worker{}))
	if err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("the path of an error: %q", err)
	}
}

func TestHooksAreTheSameByTheirSections(t *testing.T) {
	parse := func(text string) workerfile.Hook {
		t.Helper()
		f, err := workerfile.Parse("worker.yaml", []byte(text), basic.Kinds(kind.Worker{}))
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
	f, err := workerfile.Parse("worker.yaml", []byte(good), basic.Kinds(kind.Worker{}))
	if err != nil {
		t.Fatal(err)
	}
	wrong := f.Hooks[1].Wrong(errors.New("refused"))
	if want := "worker.yaml:23:9: hooks[1]: refused"; wrong.Error() != want || !strings.Contains(wrong.Snippet(), "id: linter") {
		t.Errorf("%v\n%s; want %s", wrong, wrong.Snippet(), want)
	}
	if err := (workerfile.Hook{}).Wrong(errors.New("refused")); !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

// A hook that lacks something acts, says what is missing, and fails with that error.
func TestAHookThatLacksSomethingIsBuiltWhereOnlyTheFileCounts(t *testing.T) {
	const text = "hooks:\n  - {id: a, events: [e], exec: {command: [no-such-program-anywhere]}}\n  - {id: b, events: [e], cel: {rules: [{deny: no}]}}\n"
	opts := basic.Kinds(kind.Worker{})
	if _, err := workerfile.Parse("w.yaml", []byte(text), opts); err == nil {
		t.Error("a program that is missing is no error")
	}
	opts.FileOnly = true
	f, err := workerfile.Parse("w.yaml", []byte(text), opts)
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

// Errors that wrap the error of Parse keep the places.
func TestErrorsAreFoundBelowOthers(t *testing.T) {
	one, two := &workerfile.Error{Line: 1, Err: errors.New("a")}, &workerfile.Error{Line: 2, Err: errors.New("b")}
	err := fmt.Errorf("load: %w", errors.Join(one, fmt.Errorf("and %w", two), errors.New("c")))
	if got := workerfile.Errors(err); len(got) != 2 || got[0] != one || got[1] != two {
		t.Errorf("Errors = %v; want both", got)
	}
}
