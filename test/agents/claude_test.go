package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// denying denies the tool calls whose data has a text.
func denying(texts ...string) func(ev worker.Event) (worker.Result, error) {
	return at(events.ToolPre, func(ev worker.Event) (worker.Result, error) {
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(string(ev.Data), text) }) {
			return worker.Deny(reason)
		}
		return worker.Continue()
	})
}

// A skill's text may have shell commands, which Claude Code runs when the skill is loaded, without
// a tool call.
func TestClaudeAsksAboutTheShellCommandsOfSkills(t *testing.T) {
	t.Parallel()
	l := newLab(t, named(t, "claude-code"), scenario{command: "true", hook: denying("echo of-a-skill")})
	l.run.Prompt = "/state"
	skill := filepath.Join(l.run.Dir, ".claude", "skills", "state")
	if err := os.MkdirAll(skill, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: state\ndescription: shows the state\nallowed-tools: Bash\n---\nState: !`echo of-a-skill > marker`\n"
	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l.finishes()
	l.ran("")
	l.told(reason)
	l.recorded(events.ToolPre, "deny")
}

// A program that the agent runs may write settings that switch all hooks off. The running session
// stays at the old ones.
func TestClaudeKeepsItsHooks(t *testing.T) {
	t.Parallel()
	const off = `mkdir -p .claude; echo '{"disableAllHooks": true}' > .claude/settings.local.json; sleep 3`
	l := newLab(t, named(t, "claude-code"), scenario{command: "sh ./switch-off", next: []string{"echo ungated > marker"}, hook: denying("echo ungated", `"ConfigChange"`)})
	if err := os.WriteFile(filepath.Join(l.run.Dir, "switch-off"), []byte(off+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.finishes()
	if _, err := os.Stat(filepath.Join(l.run.Dir, ".claude", "settings.local.json")); err != nil {
		t.Fatal(err)
	}
	l.ran("")
	l.told(reason)
}
