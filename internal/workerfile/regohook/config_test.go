package regohook_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/regohook"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func parse(dir, section string) (*workerfile.File, error) {
	file := "hooks:\n  - id: a\n    events: ['tool:pre']\n    rego:\n" + section
	return workerfile.Parse("a.yaml", []byte(file), workerfile.Options{
		Kinds:  map[string]kind.Kind{"rego": kind.Of("Policies.", regohook.New)},
		Worker: kind.Worker{Dir: dir},
	})
}

func TestErrorsNameTheirPlace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"parse.rego":  "package hooks\n\ndeny contains \"x\" if {\n",
		"types.rego":  "package hooks\n\ndeny contains \"x\" if {\n  inputs.a\n  1 == \"a\"\n}\n",
		"v0.rego":     "package hooks\n\ndeny[\"x\"] { input.a }\n",
		"net.rego":    "package hooks\n\ndeny contains \"x\" if {\n  http.send({\"url\": \"http://127.0.0.1\", \"method\": \"get\"})\n}\n",
		"good.rego":   "package authz\n\ndefault allow := false\n",
		"data.json":   `{"x":`,
		"b/.manifest": `{"roots":["other"]}`, "b/good.rego": "package authz\n\nallow := true\n",
	})
	for name, c := range map[string]struct{ section, want string }{
		"nothing":                 {"      query: data.a\n", "a.yaml:5:7: hooks[0].rego: must have one of policy, files and bundle, not 0 of them"},
		"two of them":             {"      policy: package a\n      bundle: b\n", "must have one of policy, files and bundle, not 2 of them"},
		"half a policy":           {"      policy: |\n        package hooks\n\n        deny contains if {\n", "a.yaml:8:"},
		"a policy with a type":    {"      policy: |\n        package hooks\n\n        deny contains x if {\n          x := 1 + \"a\"\n        }\n", "a.yaml:9:16: hooks[0].rego.policy: rego_type_error"},
		"the syntax before 1.0":   {"      policy: |\n        package hooks\n        deny[msg] { input.x }\n", "a.yaml:7:9: hooks[0].rego.policy: rego_parse_error: `if` keyword is required before rule body: write deny contains msg if { ... }, or say v0: true"},
		"a comment alone":         {"      policy: '# nothing'\n", "hooks[0].rego.policy: "},
		"half a file":             {"      files: [parse.rego]\n", "hooks[0].rego.files: parse.rego:4:"},
		"an undefined name":       {"      files: [types.rego]\n", "hooks[0].rego.files: types.rego:4:3: rego_unsafe_var_error: var inputs is unsafe"},
		"the old syntax":          {"      files: [v0.rego]\n", "hooks[0].rego.files: v0.rego:3:1: rego_parse_error"},
		"the network":             {"      files: [net.rego]\n", "net.rego:4:3: rego_type_error: undefined function http.send: the network is off, unless allow_net names the hosts to reach"},
		"a file that isn't there": {"      files: [good.rego, none.rego]\n", "a.yaml:5:26: hooks[0].rego.files[1]: read it: stat " + dir + "/none.rego: no such file"},
		"half a data file":        {"      files: [good.rego, data.json]\n", "hooks[0].rego.files: "},
		"a bundle that isn't":     {"      bundle: none.tar.gz\n", "a.yaml:5:15: hooks[0].rego.bundle: read it"},
		"a bundle of other roots": {"      bundle: b\n", "hooks[0].rego.bundle: "},
		"a query without rules":   {"      files: [good.rego]\n", "hooks[0].rego.query: no policy has the rule data.hooks, nor a rule deny, allow, ask or result below it: the packages are data.authz"},
		"a query of a variable":   {"      files: [good.rego]\n      query: data.authz[x]\n", "a.yaml:6:14: hooks[0].rego.query: must name a rule or a package"},
		"a query of the input":    {"      files: [good.rego]\n      query: input.x\n", "must name a rule or a package"},
		"a query that is none":    {"      files: [good.rego]\n      query: 'data.authz.allow == true'\n", "must name a rule or a package"},
		"an unknown key":          {"      policies: [a]\n", `unknown key "policies"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(dir, c.section); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse = %v; want %s", err, c.want)
			}
		})
	}
}

func TestEachErrorOfAPolicyHasItsPlace(t *testing.T) {
	_, err := parse(t.TempDir(), "      policy: |\n        package hooks\n        deny if foo\n        allow if bar\n")
	var got []string
	for _, e := range workerfile.Errors(err) {
		got = append(got, fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Path))
	}
	if want := []string{"7:17: hooks[0].rego.policy", "8:18: hooks[0].rego.policy"}; !slices.Equal(got, want) {
		t.Errorf("places %q; want %q; %v", got, want, err)
	}
}

func TestAnAnswerNamesItsRule(t *testing.T) {
	file, err := parse(t.TempDir(), `      policy: |
        package hooks

        deny contains "a" if input.tool.command == "rm x"
        deny contains "b" if input.tool.command == "rm y"
`)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	result, err := file.Hooks[0].Named()(t.Context(), events.Event{Name: "tool:pre", Data: []byte(`{"tool_name":"Bash","tool_input":{"command":"rm y"}}`)})
	if want := "a.yaml:5 rego.policy deny at line 3,4 of the policy"; err != nil || result.Rule != want {
		t.Errorf("%q, %v; want %q", result.Rule, err, want)
	}
}

func TestPoliciesAreFound(t *testing.T) {
	dir := t.TempDir()
	const v1 = "package authz\n\nallow if input.data.tool_name in data.tools\n"
	write(t, dir, map[string]string{
		"p/authz.rego": v1, "p/data.json": `{"tools":["Bash"]}`,
		"b/authz.rego": v1, "b/tools/data.json": `["Bash"]`,
		"v0.rego": "package authz\n\nallow { input.data.tool_name == \"Bash\" }\n",
	})
	if err := os.Symlink("p", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	tarball(t, filepath.Join(dir, "b.tar.gz"), map[string]string{"/authz.rego": v1, "/tools/data.json": `["Bash"]`})
	files := map[string][]string{
		"a directory": {"p", "p/authz.rego", "p/data.json"}, "files": {"p/authz.rego", "p/data.json"},
		"a link to a directory":   {"link", "link/authz.rego", "link/data.json"},
		"a bundle in a directory": {"b", "b/authz.rego", "b/tools", "b/tools/data.json"}, "a bundle in a file": {"b.tar.gz"},
		"a bundle by its whole path": {"b", "b/authz.rego", "b/tools", "b/tools/data.json"}, "the syntax before OPA 1.0": {"v0.rego"},
	}
	for name, c := range map[string]regohook.Config{
		"a directory":                   {Files: []string{"p"}},
		"a link to a directory":         {Files: []string{"link"}},
		"files":                         {Files: []string{"p/authz.rego", "p/data.json"}},
		"a bundle in a directory":       {Bundle: "b"},
		"a bundle in a file":            {Bundle: "b.tar.gz"},
		"a bundle by its whole path":    {Bundle: filepath.Join(dir, "b")},
		"the syntax before OPA 1.0":     {Files: []string{"v0.rego"}, V0: true},
		"a text, and a rule of it":      {Policy: "package authz\n\nallow if input.tool.class == \"shell\"", Query: "data.authz.allow"},
		"a function that may reach out": {Policy: "package authz\n\nallow if input.tool.class == \"shell\"\n\nx := http.send({\"url\": \"http://127.0.0.1\", \"method\": \"get\"})", AllowNet: []string{"127.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.Query == "" {
				c.Query = "data.authz"
			}
			hook, err := regohook.New(kind.Section{Worker: kind.Worker{Dir: dir}}, c)
			if err != nil {
				t.Fatal(err)
			}
			var watched []string
			for _, file := range files[name] {
				watched = append(watched, filepath.Join(dir, file))
			}
			if !slices.Equal(watched, hook.Files) {
				t.Errorf("it is built anew when %q change; want %q", hook.Files, watched)
			}
			for tool, denied := range map[string]bool{"Bash": false, "Write": true} {
				got, err := hook.Handler(t.Context(), call(tool))
				if err != nil || got.Denied() != denied {
					t.Errorf("%s: %+v, %v", tool, got, err)
				}
			}
		})
	}
}

func TestASignedBundleIsRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"b/authz.rego": "package authz\n\nallow := true\n", "b/.signatures.json": `{"signatures":["eyJhbGciOiJIUzI1NiJ9.e30.AAAA"]}`})
	if _, err := parse(dir, "      bundle: b\n      query: data.authz\n"); err == nil || !strings.Contains(err.Error(), "hooks[0].rego.bundle: b is signed") {
		t.Errorf("Parse = %v; want that it is signed", err)
	}
}

func tarball(t *testing.T, file string, members map[string]string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range members {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
