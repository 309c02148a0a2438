package schema_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
	"github.com/hookrouter/hookrouter/internal/workerfile/schema"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("worker.schema.json", text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("worker.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate returns what an editor would report about a worker file.
func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

func loads(t *testing.T, name, text string) bool {
	_, err := workerfile.Parse(name, []byte(text), kinds.All(kind.Worker{Dir: t.TempDir()}))
	return err == nil
}

var (
	fence   = regexp.MustCompile("(?ms)^```yaml[^\n]*\n(.*?\n)```$")
	comment = regexp.MustCompile(`(?m)(?:^//\t.*\n|^//\n)+`)
)

// texts returns the worker files of the repository: files, and blocks in documents and in package
// comments.
func texts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml":
			all[path] = string(text)
		case ".md":
			for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
				all[path+": "+m[1]] = m[1]
			}
		case ".go":
			if filepath.Base(path) == "doc.go" {
				for _, m := range comment.FindAllString(string(text), -1) {
					all[path+": "+m] = regexp.MustCompile(`(?m)^//\t?`).ReplaceAllString(m, "")
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryKindLoads tests package kinds.
func TestEveryKindLoads(t *testing.T) {
	if got := slices.Sorted(maps.Keys(kinds.All(kind.Worker{}).Kinds)); !slices.Equal(got, []string{"builtin", "cel", "exec", "http", "rego"}) {
		t.Errorf("the kinds are %q", got)
	}
	for name, config := range map[string]string{
		"builtin": "date-time", "cel": "{rules: [{deny: no}]}", "exec": "{command: [sh]}", "http": "{url: 'https://127.0.0.1:1/x'}",
		"rego": `{policy: "package hooks\n\ndeny contains \"no\""}`,
	} {
		if text := "hooks: [{id: a, events: ['*'], " + name + ": " + config + "}]"; !loads(t, name, text) {
			t.Errorf("a hook of kind %s does not load: %s", name, text)
		}
	}
	_, err := workerfile.Parse("worker.yaml", []byte(`hooks: [{id: a, events: ["*"], match: session == "s1", cel: {rules: [{deny: no}]}}]`), kinds.All(kind.Worker{}))
	const want = "worker.yaml:1:39: hooks[0].match: undeclared reference to 'session' (did you mean 'session_id'?)"
	if err == nil || err.Error() != want {
		t.Errorf("error %v; want %s", err, want)
	}
}

func TestFilesThatLoadAreValid(t *testing.T) {
	s, n := compiled(t), 0
	for name, text := range texts(t) {
		if !strings.Contains(text, "hooks:") && !strings.Contains(text, "contributors:") || !loads(t, name, text) {
			continue
		}
		n++
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n < 10 {
		t.Errorf("only %d worker files were found in the tree", n)
	}
}

// TestInvalidFilesAreRefused tries invalid files that differ little from valid ones.
func TestInvalidFilesAreRefused(t *testing.T) {
	const head = "hooks:\n  - id: guard\n    events: [tool:pre]\n"
	const good = head + "    cel: {rules: [{when: true, deny: no}]}\n"
	s := compiled(t)
	if err := validate(t, s, good); err != nil || !loads(t, "good", good) {
		t.Fatalf("the good one: %v", err)
	}
	test := func(rest string) string { return good + "tests:\n  - name: a\n" + rest }
	for name, text := range map[string]string{
		"no hooks":                         "nats: {}\n",
		"an unknown key":                   good + "hoks: []\n",
		"an unknown key of nats":           good + "nats: {server: x}\n",
		"an unknown key of a hook":         good + "    prioritty: 1\n",
		"an unknown kind":                  head + "    sell: {rules: []}\n",
		"no kind":                          head,
		"two kinds":                        good + "    exec: {command: [sh]}\n",
		"no id":                            "hooks: [{events: [x], cel: {rules: [{deny: a}]}}]\n",
		"no events":                        "hooks: [{id: a, cel: {rules: [{deny: a}]}}]\n",
		"a text where a list must be":      "hooks: [{id: a, events: x, cel: {rules: [{deny: a}]}}]\n",
		"a text as a priority":             good + "    priority: first\n",
		"a fraction as a priority":         good + "    priority: 1.5\n",
		"an unknown policy":                good + "    on_failure: block\n",
		"an unknown mode":                  good + "    mode: off\n",
		"an instance":                      good + "    instance: a\n",
		"an unknown key of a rule":         head + "    cel: {rules: [{wen: true, deny: no}]}\n",
		"a condition that is a list":       head + "    cel: {rules: [{when: [true], deny: no}]}\n",
		"an unknown key of ask":            head + "    cel: {rules: [{ask: {promt: a}}]}\n",
		"an unknown default of ask":        head + "    cel: {rules: [{ask: {prompt: a, default: ask}}]}\n",
		"a rule that denies and asks":      head + "    cel: {rules: [{deny: no, ask: {prompt: a}}]}\n",
		"a rule that asks and injects":     head + "    cel: {rules: [{ask: {prompt: a}, inject: {text: a}}]}\n",
		"a denial without a reason":        head + "    cel: {rules: [{deny: ''}]}\n",
		"nothing to choose":                head + "    cel: {rules: [{ask: {prompt: a, options: []}}]}\n",
		"a choice twice":                   head + "    cel: {rules: [{ask: {prompt: a, options: [b, b]}}]}\n",
		"an empty choice":                  head + "    cel: {rules: [{ask: {prompt: a, options: [b, '']}}]}\n",
		"a policy and files":               head + "    rego: {policy: \"package hooks\\ndeny := false\", files: [.]}\n",
		"no policy":                        head + "    rego: {query: data.hooks}\n",
		"two secrets":                      head + "    http: {url: 'https://a.example', secret_env: A, secret_file: b}\n",
		"an unknown role":                  head + "    cel: {rules: [{inject: {text: a, role: boss}}]}\n",
		"an unknown level":                 head + "    cel: {rules: [{user_message: a, user_message_level: loud}]}\n",
		"an unknown key of exec":           head + "    exec: {command: [sh], comand: [sh]}\n",
		"an unknown builtin":               head + "    builtin: date-tme\n",
		"an unknown builtin with options":  head + "    builtin: {date-tme: {}}\n",
		"two builtins":                     head + "    builtin: {date-time: {}, date-tme: {}}\n",
		"an unknown option of a builtin":   head + "    builtin: {date-time: {zone: UTC}}\n",
		"an option of another type":        head + "    builtin: {date-time: {timezone: 5}}\n",
		"a test without a name":            good + "tests: [{event: tool:pre, expect: {action: deny}}]\n",
		"an unknown key of a test":         test("    evnt: tool:pre\n    expect: {action: deny}\n"),
		"an unknown key of an expectation": test("    event: tool:pre\n    expect: {acton: deny}\n"),
		"an unknown action":                test("    event: tool:pre\n    expect: {action: block}\n"),
		"an unknown key of a text":         test("    event: tool:pre\n    expect: {reason: {has: a}}\n"),
		"an unknown thing to do":           test("    event: tool:pre\n    expect: {hooks: {guard: ran}}\n"),
		"a test of event and events":       test("    event: tool:pre\n    events: [{event: tool:pre}]\n    expect: {action: deny}\n"),
		"a test without an event":          test("    expect: {action: deny}\n"),
		"an unknown assumption":            test("    event: tool:pre\n    assume: {guard: block}\n    expect: {action: deny}\n"),
		"an unknown key of an assumption":  test("    event: tool:pre\n    assume: {guard: {action: deny, reson: a}}\n    expect: {action: deny}\n"),
		"an assumption without an action":  test("    event: tool:pre\n    assume: {guard: {reason: a}}\n    expect: {action: deny}\n"),
		"data that is a text":              test("    event: tool:pre\n    data: a\n    expect: {action: deny}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if loads(t, name, text) {
				t.Errorf("this loads:\n%s", text)
			}
			if validate(t, s, text) == nil {
				t.Errorf("the schema accepts\n%s", text)
			}
		})
	}
}
