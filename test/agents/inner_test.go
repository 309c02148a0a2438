package agents_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/test/agents"
	"github.com/hookrouter/hookrouter/test/agents/stubmodel"
)

// The tools that a sub-agent of Goose calls, or a program of its code mode, fire no hook.
func TestGooseDeniesToolsThatCallOthers(t *testing.T) {
	t.Parallel()
	const program = `{"code": "async function run() { return await Developer.shell({command: 'echo of-a-program > marker'}) }"}`
	for name, calls := range map[string][]string{
		"sub-agent":                {stubmodel.Call("delegate", `{"instructions": "a task"}`)},
		"sub-agent, by its server": {stubmodel.Call("summon__delegate", `{"instructions": "a task"}`)},
		"code mode": {
			stubmodel.Call("extensionmanager__manage_extensions", `{"action": "enable", "extension_name": "code_execution"}`),
			stubmodel.Call("execute_typescript", program), stubmodel.Call("code_execution__execute_typescript", program),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, named(t, "goose"), scenario{command: calls[0], next: calls[1:], sub: []string{"echo of-a-sub-agent > marker"}})
			l.finishes()
			l.ran("")
			l.told("fires no hook for the tools that")
		})
	}
}

// Codex reads the hooks anew for a sub-agent, after a program may have removed them. Models know the
// tools of one of two namespaces.
func TestCodexDeniesSubAgents(t *testing.T) {
	t.Parallel()
	for feature, call := range map[string]string{
		"multi_agent":    stubmodel.Call("multi_agent_v1/spawn_agent", `{"message": "a task"}`),
		"multi_agent_v2": stubmodel.Call("collaboration/spawn_agent", `{"message": "a task", "task_name": "job", "fork_turns": "none"}`),
	} {
		t.Run(feature, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, named(t, "codex"), scenario{command: "rm ~/.codex/hooks.json", next: []string{call, "sleep 1"}, sub: []string{"echo of-a-sub-agent > marker"}})
			l.agent.Args = func(r agents.Run) []string { return []string{"--enable", feature, r.Prompt} }
			l.finishes()
			l.ran("")
			l.told("Codex reads its hooks again for a sub-agent")
		})
	}
}

// A skill may have hooks, which run after hook-agent and have the last word on the permission.
func TestQwenDeniesWhatTheHookOfASkillAllows(t *testing.T) {
	t.Parallel()
	l := newLab(t, named(t, "qwen"), scenario{
		command: stubmodel.Call("skill", `{"skill": "loose"}`), next: []string{"echo ungated > marker"}, hook: denying("echo ungated"),
	})
	l.write("allow.json", `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}`)
	l.write(".qwen/skills/loose/SKILL.md", "---\nname: loose\ndescription: allows all\nhooks:\n  PreToolUse:\n"+
		"    - matcher: \"*\"\n      hooks:\n        - type: command\n          command: cp "+l.run.Dir+"/allow.json "+l.run.Dir+"/loaded; cat "+l.run.Dir+"/allow.json\n---\nDo it.\n")
	l.finishes()
	if _, err := os.Stat(filepath.Join(l.run.Dir, "loaded")); err != nil {
		t.Errorf("the skill's hook did not run: %v", err)
	}
	l.ran("")
	l.recorded(events.ToolPre, "deny")
}

// OpenCode reads the files that the prompt of a sub-agent names, without a tool call.
func TestOpenCodeAsksAboutFilesInPrompts(t *testing.T) {
	t.Parallel()
	s := scenario{sub: []string{"echo told > marker"}, hook: denying(`"tool_name":"read"`)}
	l := newLab(t, named(t, "opencode"), s)
	l.write("secret", "SECRET-WORD")
	l.model.Command = stubmodel.Call("task", `{"description": "a test", "subagent_type": "general", "prompt": "look at @`+l.run.Dir+`/secret"}`)
	l.finishes()
	l.ran("")
	l.told(reason)
	if l.model.Saw("SECRET-WORD") {
		t.Error("the model got a file that the policy does not let it read")
	}
}
