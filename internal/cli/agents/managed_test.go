package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A variable that makes an agent read another file than the machine's removes its hooks.
func TestManagedSettingsElsewhere(t *testing.T) {
	t.Parallel()
	for dialect, variable := range map[string]string{"gemini": "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "qwen": "QWEN_CODE_SYSTEM_SETTINGS_PATH"} {
		agent, err := find(dialect)
		if err != nil {
			t.Fatal(err)
		}
		path := "/" + agent.paths[managed]
		for file, fails := range map[string]bool{"": false, path: false, "/tmp/other.json": true} {
			var list findings
			agent.checkHooks(path, func(name string) string { return map[string]string{variable: file}[name] }, nil, hooks{target: agent}, &list)
			said := false
			for _, f := range list {
				said = said || f.State == "fail" && strings.HasPrefix(f.Text, variable+" is set")
			}
			if said != fails {
				t.Errorf("%s=%s: %+v; want it told: %v", variable, file, list, fails)
			}
		}
	}
}

// The machine's settings take precedence over those that a user has connected.
func TestMachineSwitchesHooksOff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"hooksConfig":{"enabled":false}}`: "switches all hooks off",
		`{"disableAllHooks":true}`:          "switches all hooks off",
		`{"allowManagedHooksOnly":true}`:    "allows only managed hooks",
		`{}`:                                "",
	} {
		home, file := t.TempDir(), filepath.Join(t.TempDir(), "system.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		agent, err := find("gemini")
		if err != nil {
			t.Fatal(err)
		}
		getenv := func(name string) string {
			return map[string]string{"HOME": home, agent.instead: file}[name]
		}
		var list findings
		agent.checkHooks(filepath.Join(home, agent.paths[user]), getenv, nil, hooks{target: agent}, &list)
		said := false
		for _, f := range list {
			said = said || f.State == "fail" && strings.HasPrefix(f.Text, file) && strings.Contains(f.Text, want)
		}
		if said != (want != "") {
			t.Errorf("%s: %+v; want it told: %q", text, list, want)
		}
	}
}

// A .env file may make an agent read other settings than those that have the hooks.
func TestADotenvElsewhere(t *testing.T) {
	const system, home = "_SYSTEM_SETTINGS_PATH=/x", "_HOME=/x"
	for name, c := range map[string]struct {
		dialect, scope, file, text string
		set                        string // a variable that is set already
		fails                      bool
	}{
		"above the project":                {"gemini", user, "above/.env", "A=b\nexport GEMINI_CLI" + system, "", true},
		"of the project, with an own name": {"gemini", managed, "above/project/.gemini/.env", "GEMINI_CLI" + system, "", true},
		"of the home":                      {"gemini", user, "home/.env", "GEMINI_CLI" + system, "", true},
		"which moves the home":             {"gemini", user, "above/.env", "GEMINI_CLI" + home, "", true},
		"which moves another's home":       {"gemini", managed, "above/.env", "GEMINI_CLI" + home, "", false},
		"of a project that Qwen ignores":   {"qwen", user, "above/project/.env", "QWEN_CODE" + system, "", false},
		"of the home, for Qwen":            {"qwen", managed, "home/.qwen/.env", "QWEN_CODE" + system, "", true},
		"a comment":                        {"gemini", user, "above/.env", "# GEMINI_CLI" + system, "", false},
		"a variable that is set":           {"gemini", user, "above/.env", "GEMINI_CLI" + system, "GEMINI_CLI_SYSTEM_SETTINGS_PATH", false},
		"for an agent that reads none":     {"claude-code", user, "above/.env", "CLAUDE_CONFIG_DIR=/x", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, c.file)
			for _, dir := range []string{filepath.Dir(file), filepath.Join(root, "above", "project")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(file, []byte(c.text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Chdir(filepath.Join(root, "above", "project"))
			getenv := func(name string) string {
				return map[string]string{"HOME": filepath.Join(root, "home"), c.set: filepath.Join(root, "system.json")}[name]
			}
			agent, err := find(c.dialect)
			if err != nil {
				t.Fatal(err)
			}
			path, err := agent.path(c.scope, getenv)
			if err != nil {
				t.Fatal(err)
			}
			var list findings
			agent.checkHooks(path, getenv, nil, hooks{target: agent}, &list)
			said := false
			for _, f := range list {
				said = said || f.State == "fail" && strings.HasPrefix(f.Text, file+" sets ")
			}
			if said != c.fails {
				t.Errorf("%+v; want it told: %v", list, c.fails)
			}
		})
	}
}

// The machine's requirements may keep Codex from running hooks.
func TestMachineRequirementsOfCodex(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{ // in the scopes user and managed
		"allow_managed_hooks_only = true\n":  {"allows only managed hooks", ""},
		"[features]\nhooks = false\n":        {"switches all hooks off", "switches all hooks off"},
		"allow_managed_hooks_only = false\n": {},
	} {
		home, file := t.TempDir(), filepath.Join(t.TempDir(), requirements)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		agent, err := find("codex")
		if err != nil {
			t.Fatal(err)
		}
		agent.paths[managed] = strings.TrimPrefix(file, "/")
		getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
		for i, scope := range []string{user, managed} {
			there, path, err := agent.configuration(scope, getenv)
			if err != nil {
				t.Fatal(err)
			}
			var list findings
			there.checkHooks(path, getenv, nil, hooks{target: there}, &list)
			said := ""
			for _, f := range list {
				if rest, ok := strings.CutPrefix(f.Text, file+" "); ok && f.State == "fail" && !strings.Contains(rest, ttyFeature) {
					said = rest
				}
			}
			if !strings.HasPrefix(said, want[i]) || want[i] == "" && said != "" {
				t.Errorf("%q, %s: %+v; want it told: %q", text, scope, list, want[i])
			}
		}
	}
}
