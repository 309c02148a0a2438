package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
)

// The scopes of a configuration.
const (
	user    = "user"    // of this user
	project = "project" // of the current directory
	managed = "managed" // of this machine, set by its administrator
)

// target is the configuration of one agent.
type target struct {
	dialect string
	program string            // the command that people run
	paths   map[string]string // of the configuration, by scope; relative to the home, the project, and the root
	merge   bool              // people keep other settings in the file too
	toml    bool              // the file is TOML, not JSON
	also    element           // that keeps the agent from a way around the hooks; if any
	demands bool              // the file has settings that people must not change
	moved   moved             // the variable that moves the user's files
	instead string            // the variable that replaces the machine's file
	dotenv  envFile           // the .env files that may set these two
	unit    time.Duration     // of the timeouts
	entry   func(h hook) any  // builds the entry of one event
	files   func(h hooks) map[string]string
}

// hook is the command for one event.
type hook struct {
	event   agenthook.Event
	command string
	timeout int64 // in the target's unit
}

// hooks is hook-agent with the settings of one connection.
type hooks struct {
	program string   // the path of hook-agent
	args    []string // without the agent and the event
	timeout time.Duration
	target  target
}

type object = map[string]any

func targets() []target {
	return []target{
		{
			dialect: "claude-code", program: "claude", merge: true, unit: time.Second, entry: closedEntry,
			paths: map[string]string{user: ".claude/settings.json", project: ".claude/settings.json", managed: "etc/claude-code/managed-settings.json"},
			moved: moved{"CLAUDE_CONFIG_DIR", ".claude"},
			also:  element{"claudeMdExcludes", "**/!(*.md)", "CLAUDE.md can import any file, such as .env, without a hook"},
		},
		{
			dialect: "codex", program: "codex", merge: true, unit: time.Second, entry: claudeEntry,
			paths: map[string]string{user: ".codex/hooks.json", project: ".codex/hooks.json", managed: "etc/codex/" + requirements},
			moved: moved{"CODEX_HOME", ".codex"},
		},
		{
			dialect: "gemini", program: "gemini", merge: true, unit: time.Millisecond, entry: geminiEntry,
			paths: map[string]string{user: ".gemini/settings.json", project: ".gemini/settings.json", managed: "etc/gemini-cli/settings.json"},
			moved: moved{"GEMINI_CLI_HOME", ""}, instead: "GEMINI_CLI_SYSTEM_SETTINGS_PATH", dotenv: envFile{".gemini", true},
		},
		{
			dialect: "copilot", program: "copilot", unit: time.Second, files: copilotFiles,
			paths: map[string]string{user: ".copilot/hooks/hookrouter.json", project: ".github/hooks/hookrouter.json", managed: "etc/github-copilot/policy.d/hookrouter.json"},
			moved: moved{"COPILOT_HOME", ".copilot"},
		},
		{
			dialect: "goose", program: "goose", unit: time.Second, files: gooseFiles,
			paths: map[string]string{user: ".agents/plugins/hookrouter/hooks/hooks.json"},
		},
		{
			dialect: "qwen", program: "qwen", merge: true, unit: time.Second, entry: geminiEntry,
			paths: map[string]string{user: ".qwen/settings.json", project: ".qwen/settings.json", managed: "etc/qwen-code/settings.json"},
			moved: moved{"QWEN_HOME", ".qwen"}, instead: "QWEN_CODE_SYSTEM_SETTINGS_PATH", dotenv: envFile{".qwen", false},
		},
		{
			dialect: "opencode", program: "opencode", unit: time.Second, files: opencodeFiles,
			paths: map[string]string{user: ".config/opencode/plugin/hookrouter.js", project: ".opencode/plugin/hookrouter.js"},
			moved: moved{"XDG_CONFIG_HOME", ".config"},
		},
	}
}

// find returns the target of an agent.
func find(dialect string) (target, error) {
	all := targets()
	i := slices.IndexFunc(all, func(t target) bool { return t.dialect == dialect })
	if i < 0 {
		var names []string
		for _, t := range all {
			names = append(names, t.dialect)
		}
		return target{}, fmt.Errorf("there is no agent %q here: use one of %s", dialect, strings.Join(names, ", "))
	}
	return all[i], nil
}

// short bounds the timeout of a hook whose answer the agent does not obey.
const short = 10 * time.Second

// managedFlag tells hook-agent that only the administrator can change its settings.
const managedFlag = "--scope=" + managed

// of returns the hook for one event.
func (h hooks) of(e agenthook.Event) hook {
	timeout := h.timeout
	if !e.Obeys() {
		timeout = min(short, timeout)
	}
	words := []string{h.program}
	words = append(words, h.args...)
	if h.target.demands {
		words = append(words, managedFlag)
	}
	words = append(words, "--timeout="+deadline(timeout).String(), h.target.dialect, e.Native)
	for i, w := range words {
		words[i] = quoted(w)
	}
	return hook{event: e, command: strings.Join(words, " "), timeout: int64(timeout / h.target.unit)}
}

// deadline returns how long hook-agent may take to answer before its agent gives up.
func deadline(timeout time.Duration) time.Duration {
	return max(timeout-max(timeout/20, 2*time.Second), timeout/2)
}

// quoted quotes a word for a POSIX shell.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-", c)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (t target) events() []agenthook.Event {
	d, _ := agenthook.Find(t.dialect)
	return d.Events
}

func claudeEntry(h hook) any {
	return object{"hooks": []object{{"type": "command", "command": h.command, "timeout": h.timeout}}}
}

// closedEntry has a gated event blocked if its hook fails.
func closedEntry(h hook) any {
	command := object{"type": "command", "command": h.command, "timeout": h.timeout}
	if h.event.Gated() {
		command["onFailure"] = "block"
	}
	return object{"hooks": []object{command}}
}

func geminiEntry(h hook) any {
	return object{"matcher": "*", "hooks": []object{{"type": "command", "command": h.command, "timeout": h.timeout}}}
}

// document returns a complete file with all events.
func (h hooks) document(head object, entry func(hook) any) string {
	list := object{}
	for _, e := range h.target.events() {
		list[e.Native] = []any{entry(h.of(e))}
	}
	head["hooks"] = list
	return pretty(head)
}

func copilotFiles(h hooks) map[string]string {
	return map[string]string{"": h.document(object{"version": 1}, func(h hook) any {
		return object{"type": "command", "bash": h.command, "timeoutSec": h.timeout}
	})}
}

func gooseFiles(h hooks) map[string]string {
	return map[string]string{
		"../plugin.json": pretty(object{"name": "hookrouter", "version": "1.0.0", "description": "Asks the hook router before tools run"}),
		"": h.document(object{}, func(h hook) any {
			command := object{"type": "command", "command": h.command, "timeout": h.timeout}
			if h.event.Gated() {
				command["on_failure"] = "block"
			}
			return object{"hooks": []object{command}}
		}),
	}
}

func opencodeFiles(h hooks) map[string]string {
	args := append(slices.Clone(h.args), "--timeout="+deadline(h.timeout).String(), h.target.dialect)
	return map[string]string{"": agenthook.Plugin(h.program, args)}
}

func pretty(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // v has only strings and numbers
	return b.String()
}

// installed reports whether an agent's program is on this machine.
func (t target) installed(path string) bool {
	_, ok := t.executable(path)
	return ok
}
