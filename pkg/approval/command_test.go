package approval_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

const commandRules = `rules:
  - name: checks
    decision: allow
    mode: shadow
    hook: Commands
    command: acme check conf/*.yaml
    cwd: /repo
    labels: {none: ["*"]}
    tests:
      - {command: acme check conf/a.yaml, expect: allow}
      - {command: acme check conf/a.yaml, labels: [secret-read], expect: ask}
      - {command: acme check conf/a.yaml, cwd: /other, expect: ask}
`

// A rule about a command holds for one plain command with its words, and for nothing that a
// shell may read otherwise.
func TestACommandIsMatchedWordByWord(t *testing.T) {
	t.Parallel()
	rules, err := approval.ParseRules("r", []byte(strings.Replace(commandRules, "    mode: shadow\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	match := func(data string) bool {
		_, found := rules.Match(approval.Facts{Hook: "Commands"}.WithCall("tool:pre", []byte(data)))
		return found
	}
	call := func(command string) string {
		return `{"tool_name":"Bash","cwd":"/repo","tool_input":{"command":"` + command + `","description":"x","timeout":5}}`
	}
	for _, yes := range []string{
		call("acme check conf/a.yaml"), call("acme check conf/a-b_c.d.yaml"), call("acme check conf/0.yaml"),
		`{"tool_name":"shell","cwd":"/repo","tool_input":{"command":["bash","-lc","acme check conf/a.yaml"]}}`,
	} {
		if !match(yes) {
			t.Errorf("no answer for %s", yes)
		}
	}
	for _, no := range []string{
		call("acme check conf/a.yaml; rm -rf /"), call("acme check conf/a.yaml\\nrm -rf /"), call("acme check conf/$(id).yaml"), call("acme check conf/`id`.yaml"),
		call("acme check conf/../a.yaml"), call("acme check conf/..yaml"), call("acme check conf/.yaml"), call("acme check conf/.a.yaml"), call("acme check conf/-a.yaml"),
		call("acme check conf/credentials.yaml"), call("acme check conf/API_Token.yaml"), call("acme check conf/wp-config.yaml"),
		call("acme check conf/d/a.yaml"), call("acme check conf/*.yaml"), call("acme check conf/?.yaml"), call("acme check conf/{a,b}.yaml"), call("acme check conf/a.yaml --all"),
		call("acme check  conf/a.yaml"), call("acme check conf/a.yml"), call("acme check"), call(" acme check conf/a.yaml"), call("acme check conf/a.yaml\\t"),
		call("acme check 'conf/a.yaml'"), call("acme check conf/~.yaml"), call("acme check conf/a.yaml > x"), call("acme check conf/a\\u202e.yaml"), call("./acme check conf/a.yaml"),
		strings.Replace(call("acme check conf/a.yaml"), "/repo", "/repo2", 1),
		strings.Replace(call("acme check conf/a.yaml"), `"description":"x"`, `"dangerouslyDisableSandbox":true`, 1),
		strings.Replace(call("acme check conf/a.yaml"), `"description":"x"`, `"env":{"LD_PRELOAD":"x"}`, 1),
		strings.Replace(call("acme check conf/a.yaml"), `"description":"x"`, `"script":"rm -rf /"`, 1),
		strings.Replace(call("acme check conf/a.yaml"), `"description":"x"`, `"cmd":5`, 1),
		strings.Replace(call("acme check conf/a.yaml"), "Bash", "launch", 1),
		`{"tool_name":"batch","cwd":"/repo","tool_input":{"tool_calls":[{"tool":"Bash","parameters":{"command":"acme check conf/a.yaml"}}]}}`,
		`{"tool_name":"Read","cwd":"/repo","tool_input":{"file_path":"conf/a.yaml"}}`, `[]`, ``,
	} {
		if match(no) {
			t.Errorf("an answer for %s", no)
		}
	}
}

// A rule in shadow answers nothing, and says what it would have answered where no rule in
// force answers.
func TestRulesInShadow(t *testing.T) {
	t.Parallel()
	rules, err := approval.ParseRules("r", []byte(commandRules+"  - {decision: deny, hook: Commands, command: acme check conf/b.yaml}\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := approval.Facts{Hook: "Commands", Command: "acme check conf/a.yaml", Cwd: "/repo"}
	if rule, found := rules.Match(f); found {
		t.Errorf("%s answers", rule)
	}
	if rule, found := rules.Shadow(f); !found || rule.Name != "checks" {
		t.Errorf("in shadow %s, %v", rule, found)
	}
	if rule, found := rules.Enforced().Match(f); !found || rule.Name != "checks" || rules[0].Mode != approval.Shadow {
		t.Errorf("enforced %s, %v", rule, found)
	}
	f.Command = "acme check conf/b.yaml"
	if rule, found := rules.Shadow(f); found {
		t.Errorf("%s is told beside a rule in force", rule)
	}
	if got := rules[0].String(); !strings.HasPrefix(got, `checks: allow in shadow hook "Commands" where command acme check conf/*.yaml, cwd /repo, labels none *`) {
		t.Error(got)
	}
}

func TestRulesHaveTests(t *testing.T) {
	t.Parallel()
	text := commandRules + "      - {command: acme check conf/a.yaml, expect: deny}\n"
	rules, err := approval.ParseRules("r", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := approval.ParseRuleTests("r", []byte(text))
	if err != nil || len(tests) != 4 {
		t.Fatalf("%+v, %v", tests, err)
	}
	for i, test := range tests {
		err := test.Check(rules)
		if i < 3 && err != nil {
			t.Errorf("line %d: %v", test.Line, err)
		}
		if i == 3 && (err == nil || err.Error() != "allow by checks, where deny is expected" || test.Line != 13) {
			t.Errorf("line %d: %v", test.Line, err)
		}
	}
	if tests, err := approval.ParseRuleTests("r", []byte(`{"h:*": allow}`)); len(tests) > 0 || err != nil {
		t.Errorf("the short form: %v, %v", tests, err)
	}
}

func TestParseRulesRefusesCommands(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]string{
		"command: 'a; b'":                         "rules[0].command has a word that is not plain",
		"command: 'a  b'":                         "not plain",
		"command: ''":                             "not plain",
		"command: a *":                            "in another place than behind a directory",
		"command: 'bin/* a'":                      "in another place",
		"command: a ../*":                         "in another place",
		"command: a docs/*/b":                     "a file's ending behind a *",
		"command: a docs/*.*":                     "a file's ending behind a *",
		"cwd: ' '":                                "rules[0].cwd is empty",
		"mode: enforce":                           "rules[0].mode must be shadow",
		"tests: {}":                               "rules[0].tests must be a list",
		"tests: [{command: a}]":                   "rules[0].tests[0] expects nothing",
		"tests: [{expect: maybe}]":                "must be allow, deny or ask",
		"tests: [{expect: ask, path: x}]":         `unknown key "path"`,
		"tests: [{expect: ask, labels: nothing}]": "must be a list of globs",
	} {
		rules, err := approval.ParseRules("rules.yaml", []byte("rules:\n  - decision: allow\n    hook: h\n    "+where))
		if err == nil || !strings.HasPrefix(err.Error(), "rules.yaml:4:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want in it %q", where, rules, err, want)
		}
	}
}
