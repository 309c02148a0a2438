package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// If a variable moves an agent's configuration, the agent reads only the moved one. connect writes
// there, and doctor ignores the other one.
func TestMovedConfigurations(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	for agent, c := range map[string]struct{ variable, file string }{
		"claude-code": {"CLAUDE_CONFIG_DIR", "settings.json"},
		"codex":       {"CODEX_HOME", "hooks.json"},
		"gemini":      {"GEMINI_CLI_HOME", ".gemini/settings.json"},
		"copilot":     {"COPILOT_HOME", "hooks/hookrouter.json"},
		"qwen":        {"QWEN_HOME", "settings.json"},
		"opencode":    {"XDG_CONFIG_HOME", "opencode/plugin/hookrouter.js"},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			m := asking(t, s.ClientURL(), agent)
			m.env[c.variable] = filepath.Join(m.home, "moved")
			if o := m.run("", "doctor", agent); o.code == 0 || !strings.Contains(o.stderr, "is not connected") {
				t.Errorf("with %s elsewhere: %+v", c.variable, o)
			}
			if said := strings.Join(strings.Fields(m.connect(agent)), " "); !strings.Contains(said, "only where "+c.variable+" leads there. Keep agents from writing them") {
				t.Errorf("connect says %q", said)
			}
			if _, err := os.Stat(filepath.Join(m.home, "moved", c.file)); err != nil {
				t.Error(err)
			}
			if code, list := m.doctor(agent); code != 0 {
				t.Errorf("connected there: %+v", list)
			}
			m.must("disconnect", agent, "--yes")
			delete(m.env, c.variable)
			if code, list := m.doctor(agent); code != 0 {
				t.Errorf("where it was before: %+v", list)
			}
		})
	}
}
