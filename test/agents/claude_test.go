package agents_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
	"github.com/hookrouter/hookrouter/test/agents/stubmodel"
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
	l.write(".claude/skills/state/SKILL.md", "---\nname: state\ndescription: shows the state\nallowed-tools: Bash\n---\nState: !`echo of-a-skill > marker`")
	l.finishes()
	l.ran("")
	l.told(reason)
	l.recorded(events.ToolPre, "deny")
}

// What the prompt of a skill names with @ is read as the skill is loaded, without a tool call.
func TestClaudeAsksAboutTheFilesOfSkills(t *testing.T) {
	t.Parallel()
	guard, err := pathguard.New(kind.Section{}, pathguard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRouter(t)
	r.hook(guard.Handler)
	l := newLabAt(t, r, named(t, "claude-code"), scenario{command: stubmodel.Call("Skill", `{"skill": "state", "args": "of @.env"}`)})
	l.write(".env", "SECRET-WORD")
	l.write(".claude/skills/state/SKILL.md", "---\nname: state\ndescription: shows the state\n---\nShow $ARGUMENTS\n")
	l.finishes()
	l.recorded(events.ToolPre, "deny")
	if l.model.Saw("SECRET-WORD") {
		t.Error("the model got a file that the policy does not let it read")
	}
}

// CLAUDE.md is loaded with the files that it imports, when the agent reads a file beside it. It is
// the agent that may have written it.
func TestClaudeImportsOnlyMarkdown(t *testing.T) {
	t.Parallel()
	l := newLab(t, named(t, "claude-code"), scenario{command: stubmodel.Call("Read", `{"file_path": "sub/file"}`)})
	l.write(".env", "SECRET-WORD")
	l.write("guide.md", "GUIDE-WORD")
	l.write("sub/file", "x")
	l.write("sub/CLAUDE.md", "See @../.env and @../guide.md\n")
	l.write(".claude/settings.json", `{"claudeMdExcludes": ["/other"]}`)
	l.finishes()
	l.told("GUIDE-WORD")
	if l.model.Saw("SECRET-WORD") {
		t.Error("the model got a file without a tool call")
	}
}

// off are commands that switch all hooks off.
const off = `mkdir -p .claude; echo '{"disableAllHooks": true}' > .claude/settings.local.json; sleep 3`

// A program that the agent runs may write settings that switch all hooks off. The running session
// stays at the old ones.
func TestClaudeKeepsItsHooks(t *testing.T) {
	t.Parallel()
	l := newLab(t, named(t, "claude-code"), scenario{command: "sh ./switch-off", next: []string{"echo ungated > marker"}, hook: denying("echo ungated", `"ConfigChange"`)})
	l.write("switch-off", off)
	l.finishes()
	if _, err := os.Stat(filepath.Join(l.run.Dir, ".claude", "settings.local.json")); err != nil {
		t.Fatal(err)
	}
	l.ran("")
	l.told(reason)
}

// killed has the hook of an event killed before it answers, as a program of the agent could.
func (l *lab) killed(event string) {
	l.t.Helper()
	settings := filepath.Join(l.run.Home, ".claude", "settings.json")
	text, err := os.ReadFile(settings)
	if err != nil {
		l.t.Fatal(err)
	}
	program, dying := testkit.Program(l.t, "hook-agent"), filepath.Join(l.run.Home, "hook-agent")
	script := "#!/bin/sh\ncase \"$*\" in *\" " + event + "\") kill -9 $$ ;; esac\nexec " + program + " \"$@\"\n"
	if err := os.WriteFile(dying, []byte(script), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(settings, bytes.ReplaceAll(text, []byte(program), []byte(dying)), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// A program of the agent may kill the process that Claude Code started as its hook.
func TestClaudeBlocksIfItsHookIsKilled(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"UserPromptSubmit", "PreToolUse", "ConfigChange"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, named(t, "claude-code"), scenario{command: "sh ./switch-off", next: []string{"echo ungated > marker"}, hook: denying("echo ungated")})
			l.write("switch-off", off)
			l.killed(event)
			l.ended(l.start()) // an agent whose prompt was blocked may call it an error
			l.ran("")
			if _, err := os.Stat(filepath.Join(l.run.Dir, ".claude")); (err == nil) != (event == "ConfigChange") {
				t.Errorf("after a killed %s: %v", event, err)
			}
		})
	}
}
