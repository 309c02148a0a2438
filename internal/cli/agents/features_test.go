package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

const switchLine = "unified_exec_tty = false # hookctl connect"

// withoutSwitch returns a Codex configuration without the feature settings that connect adds.
func withoutSwitch(now, before string) string {
	for _, end := range []string{"\r\n", "\n"} {
		if !strings.Contains(before, "[features]") {
			now = strings.Replace(now, end+"[features]"+end+switchLine+end, "", 1)
		}
		now = strings.Replace(now, switchLine+end, "", 1)
	}
	return now
}

// switchable are Codex settings in which typing can be turned off.
var switchable = map[string]string{
	"nothing": "", "a line": "model = \"x\"\n", "no newline": "model = \"x\"", "CRLF": "a = 1\r\n[features]\r\nhooks = true\r\n",
	"a table": "[features]\n# mine\nhooks = true\n[b]\nc = 1\n", "a table without newline": "[features]", "dotted": "features.hooks = true\n[b]\nc = 1\n",
	"an empty table": "a = 1\n[features]\n[b]\nc = 1\n", "text that looks like it": "a = \"\"\"\n[features]\nunified_exec_tty = true\n\"\"\"\n",
	"on": "[features]\nunified_exec_tty = true # I type\nhooks = true\n", "on, dotted": "features.unified_exec_tty=true\n", "another's": "[x.features]\nunified_exec_tty = true\n",
	"off": "[features]\nunified_exec_tty = false\n", "inline, off": "features = { unified_exec_tty = false }\n",
}

// Codex can't type into running programs while connected. Its settings are restored byte for byte
// if nobody changed them, and otherwise keep the changes.
func TestConnectSwitchesTypingOff(t *testing.T) {
	t.Parallel()
	for name, text := range switchable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			path := m.write(".codex/config.toml", text)
			before := m.files()
			m.connect("codex")
			once := m.files()
			if m.connect("codex"); !equal(once, m.files()) {
				t.Errorf("the second time changes something: %v", m.files())
			}
			now, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var is struct {
				Features map[string]any `toml:"features"`
			}
			if err := toml.Unmarshal(now, &is); err != nil || is.Features["unified_exec_tty"] != false {
				t.Errorf("%v: it is %s", err, now)
			}
			const later = "\n[projects.\"/repo\"]\ntrust_level = \"trusted\"\n"
			m.write(".codex/config.toml", string(now)+later)
			m.must("--text", "disconnect", "codex", "--yes")
			left, err := os.ReadFile(path)
			if want := strings.TrimSpace(text) + strings.TrimSpace(later); err != nil || strings.NewReplacer("\r", "", "\n", "").Replace(string(left)) != strings.NewReplacer("\r", "", "\n", "").Replace(want) {
				t.Errorf("%v: left %q", err, left)
			}
			m.write(".codex/config.toml", text)
			m.connect("codex")
			m.must("--text", "disconnect", "codex", "--yes")
			if after := m.files(); !equal(before, after) {
				t.Errorf("left\n%q\nwant\n%q", after, before)
			}
		})
	}
	m := newMachine(t)
	m.write(".codex/config.toml", "features = { hooks = true }\n")
	before := m.files()
	if o := m.run("", "--text", "connect", "codex", "--yes", "--hook-agent", m.hookAgent); o.code != 1 || !strings.Contains(o.stderr, "lack unified_exec_tty = false") || !equal(before, m.files()) {
		t.Errorf("%+v", o)
	}
}

// Settings of the user or of the project that keep Codex from calling hooks are reported.
func TestDoctorFindsWhatCodexSwitches(t *testing.T) {
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	m := asking(t, s.ClientURL(), "codex")
	t.Chdir(t.TempDir())
	if code, list := m.doctor("codex"); code != 0 {
		t.Fatalf("%+v", list)
	}
	path := filepath.Join(m.home, ".codex", "config.toml")
	connected, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(".codex", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ own, project, want string }{
		"removed":                  {"model = \"x\"\n", "", path + " lacks unified_exec_tty = false"},
		"changed back":             {strings.Replace(string(connected), "false", "true", 1), "", path + " lacks unified_exec_tty = false"},
		"on in the project":        {string(connected), "[features]\nunified_exec_tty = true\n", "config.toml has unified_exec_tty = true"},
		"no hooks":                 {string(connected) + "hooks = false\n", "", path + " switches all hooks off"},
		"a hook disabled":          {string(connected) + "[hooks.state.\"" + filepath.Join(m.home, ".codex", "hooks.json") + ":pre_tool_use:0:0\"]\nenabled = false\n", "", path + " disables the hook for PreToolUse"},
		"no hooks for the project": {string(connected), "[features]\nhooks = false\n", "config.toml switches all hooks off"},
	} {
		m.write(".codex/config.toml", c.own)
		if err := os.WriteFile(".codex/config.toml", []byte(c.project), 0o600); err != nil {
			t.Fatal(err)
		}
		code, list := m.doctor("codex")
		if failed := texts(list, "fail"); code != 1 || !strings.Contains(failed, c.want) || strings.Count(failed, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", name, code, failed)
		}
		m.connect("codex")
	}
}
