package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/hookrouter/hookrouter/internal/agenthook"
)

// joinable are realistic Codex configurations with hooks that can be extended.
var joinable = map[string]string{
	"hooks":           "model = \"gpt-5\"\n\n[features]\nhooks = true\n\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"~/bin/lint.sh\"\ntimeout = 5\n",
	"comments":        "# mine\nmodel = \"x\" # one\n\n# when it ends\n[[hooks.Stop]] # stop\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'say \"done\"'\n# the end\n",
	"trusted":         "[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"beep\" }]\n\n[hooks.state.\"/home/ann/.codex/config.toml:stop:0:0\"]\ntrusted_hash = \"sha256:ab\"\n",
	"CRLF":            "model = \"x\"\r\n\r\n[[hooks.Stop]]\r\n[[hooks.Stop.hooks]]\r\ntype = \"command\"\r\ncommand = \"beep\"\r\n",
	"no newline":      "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"beep\"",
	"several lines":   "developer_instructions = \"\"\"\nSay [[hooks.Stop]]\n\"\"\"\n[hooks]\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"beep\"\n",
	"servers and all": "[[hooks.Stop]]\n  [[hooks.Stop.hooks]]\n  type = \"command\"\n  command = \"beep\"\n\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"docs\"]\n[mcp_servers.docs.env]\nA = \"1\"\n[projects.\"/repo\"]\ntrust_level = \"trusted\"\n",
}

// alone are configurations without hooks, or with hooks in a form that can't be extended:
// hooks.json is used, and their hooks stay as they are.
var alone = map[string]string{
	"no hooks":       "model = \"gpt-5\"\n[features]\nhooks = true\n",
	"trust only":     "[hooks.state.\"/home/ann/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:ab\"\n",
	"a list":         "[hooks]\nStop = [{ hooks = [{ type = \"command\", command = \"beep\" }] }]\n",
	"a table inline": "hooks = { Stop = [] , PreToolUse = [{ hooks = [] }] }\n",
}

func TestConnectInTOML(t *testing.T) {
	t.Parallel()
	for name, text := range joinable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			path := m.write(".codex/config.toml", text)
			before := m.files()
			m.connect("codex")
			once := m.files()
			m.connect("codex")
			if !equal(once, m.files()) {
				t.Errorf("the second time changes something: %v", m.files())
			}
			checkTOML(t, path, text)
			if listed := m.must("--text", "connect"); !strings.Contains(line(listed, "codex"), "PreToolUse") {
				t.Errorf("listed as %s", line(listed, "codex"))
			}
			m.must("--text", "disconnect", "codex", "--yes")
			if after := m.files(); !equal(before, after) {
				t.Errorf("left\n%q\nwant\n%q", after, before)
			}
		})
	}
	for name, text := range alone {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			path := m.write(".codex/config.toml", text)
			m.connect("codex")
			if now, err := os.ReadFile(path); err != nil || withoutSwitch(string(now), text) != text {
				t.Errorf("%v: it is %q", err, now)
			}
			if _, err := os.Stat(filepath.Join(m.home, ".codex", "hooks.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// checkTOML checks that a configuration begins with its earlier content, and that each event has
// hook-agent last.
func checkTOML(t *testing.T, path, before string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(withoutSwitch(string(text), before), before) {
		t.Fatalf("%v: it is %q", err, text)
	}
	var now, was struct {
		Hooks map[string]any `toml:"hooks"`
	}
	if err := toml.Unmarshal(text, &now); err != nil {
		t.Fatal(err)
	}
	if err := toml.Unmarshal([]byte(before), &was); err != nil {
		t.Fatal(err)
	}
	d, _ := agenthook.Find("codex")
	for _, e := range d.Events {
		list, _ := now.Hooks[e.Native].([]map[string]any)
		had, _ := was.Hooks[e.Native].([]map[string]any)
		if len(list) != len(had)+1 || !strings.Contains(encoded(list[len(list)-1]), "codex "+e.Native) {
			t.Errorf("%s is %v", e.Native, list)
		}
	}
}

// Text that Codex and people add after the hooks stays, and so do their changes before the hooks.
func TestLaterEditsInTOMLStay(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	path := m.write(".codex/config.toml", joinable["hooks"])
	m.connect("codex")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const trust = "\n[hooks.state.\"x\"]\ntrusted_hash = \"sha256:ab\"\n"
	m.write(".codex/config.toml", strings.Replace(string(text), "gpt-5", "gpt-6", 1)+trust)
	m.must("--text", "disconnect", "codex", "--yes")
	left, err := os.ReadFile(path)
	if want := strings.Replace(joinable["hooks"], "gpt-5", "gpt-6", 1) + trust; err != nil || string(left) != want {
		t.Errorf("%v, left\n%s\nwant\n%s", err, left, want)
	}
}
