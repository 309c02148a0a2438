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
