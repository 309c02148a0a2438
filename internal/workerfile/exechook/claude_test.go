package exechook_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// claudeScripts has a row for each answer of a script in testdata/claude. The scripts run
// unmodified.
var claudeScripts = []struct {
	sentence, script, matcher, needs string
	event, data                      string
	files                            map[string]string // files in the project
	want                             chain.Result
	fails                            string // the error
	writes                           string // the content of the file notified
}{
	{
		sentence: "exit code 2 denies with the reason on standard error", script: "no-rm-rf.sh", needs: "jq",
		event: events.ToolPre, data: `{"tool_name":"Bash","tool_input":{"command":"rm -rf build"}}`,
		want: chain.Denial("Refused: 'rm -rf build' removes whole trees. Move things to /tmp instead."),
	},
	{
		sentence: "exit code 0 without output lets it pass", script: "no-rm-rf.sh", needs: "jq",
		event: events.ToolPre, data: `{"tool_name":"Bash","tool_input":{"command":"ls"}}`,
	},
	{
		sentence: "exit code 2 of Python", script: "protected-files.py", matcher: "Edit|Write", needs: "python3",
		event: events.ToolPre, data: `{"tool_name":"Write","tool_input":{"file_path":"/p/.env","content":"x"}}`,
		want: chain.Denial("/p/.env is protected (.env)"),
	},
	{
		sentence: "a matcher that does not fit", script: "protected-files.py", matcher: "Edit|Write", needs: "python3",
		event: events.ToolPre, data: `{"tool_name":"Read","tool_input":{"file_path":"/p/.env"}}`,
	},
	{
		sentence: "permissionDecision deny", script: "production.py", needs: "python3",
		event: events.ToolPre, data: `{"tool_name":"Bash","tool_input":{"command":"terraform destroy"}}`,
		want: chain.Result{Action: chain.Deny, Reason: "Destroying infrastructure is for people", SuppressOutput: true},
	},
	{
		sentence: "permissionDecision ask", script: "production.py", needs: "python3",
		event: events.ToolPre, data: `{"tool_name":"Bash","tool_input":{"command":"terraform apply"}}`,
		want: chain.Result{Action: chain.AskUser, ApprovalPrompt: "This changes production", SuppressOutput: true},
	},
	{
		sentence: "permissionDecision allow", script: "production.py", needs: "python3",
		event: events.ToolPre, data: `{"tool_name":"Bash","tool_input":{"command":"terraform plan"}}`,
		want: chain.Result{SuppressOutput: true},
	},
	{
		sentence: "updatedInput replaces the input and nothing else", script: "npm-ci.sh", needs: "jq",
		event: events.ToolPre, data: `{"tool_name":"Bash","big":9007199254740993,"tool_input":{"command":"npm install","timeout":5}}`,
		want: chain.Result{
			Action: chain.Modify, Reason: "the lock file is kept to",
			Data: json.RawMessage(`{"tool_name":"Bash","big":9007199254740993,"tool_input":{"command":"npm ci","timeout":5}}`),
		},
	},
	{
		sentence: "a prompt that is blocked", script: "prompt-secrets.py", needs: "python3",
		event: events.PromptSubmit, data: `{"prompt":"use password: hunter2"}`,
		want: chain.Denial("The prompt holds a secret. Take it out and send it again."),
	},
	{
		sentence: "plain output beside a prompt is context", script: "prompt-secrets.py", needs: "python3",
		event: events.PromptSubmit, data: `{"prompt":"fix login","cwd":"/p"}`,
		want: chain.Injection("Session s1 in /p"),
	},
	{
		sentence: "plain output at the start is context", script: "session-context.sh",
		event: events.SessionStart, data: `{"source":"startup"}`, files: map[string]string{"NOTES.md": "Indent with tabs.\n"},
		want: chain.Injection("## Project\nIndent with tabs."),
	},
	{
		sentence: "feedback after a tool has run", script: "lint.py", matcher: "^(Write|Edit)$", needs: "python3",
		event: events.ToolPost, data: `{"tool_name":"Write","tool_input":{"file_path":"a","content":"x \ny"},"tool_result":{}}`,
		want: chain.Injection("Fix these:\nline 1: trailing space"),
	},
	{
		sentence: "additionalContext", script: "test-output.sh",
		event: events.ToolPost, data: `{"tool_name":"Bash","tool_input":{},"tool_result":{"stdout":"FAIL a"}}`,
		want: chain.Injection("Tests are run with `make test` here."),
	},
	{
		sentence: "updatedToolOutput replaces the output", script: "redact-output.py", needs: "python3",
		event: events.ToolPost, data: `{"tool_name":"Bash","tool_input":{},"tool_result":{"stdout":"AKIA123"},"success":true}`,
		want: chain.Result{
			Action:      chain.Modify,
			Data:        json.RawMessage(`{"tool_name":"Bash","tool_input":{},"tool_result":{"stdout":"[redacted]"},"success":true}`),
			UserMessage: "A key was taken out of the output", UserMessageLevel: chain.LevelWarning,
		},
	},
	{
		sentence: "a stop that is blocked", script: "tests-first.sh",
		event: events.PromptComplete, data: `{}`, want: chain.Denial("Run the tests first"),
	},
	{
		sentence: "a stop that was blocked already", script: "tests-first.sh",
		event: events.PromptComplete, data: `{"stop_hook_active":true}`,
	},
	{
		sentence: "a notification", script: "notify.sh", needs: "jq",
		event: events.UserNotification, data: `{"notification_type":"awaiting_input","message":"Shall I?"}`,
		writes: "idle_prompt: Shall I?\n",
	},
	{
		sentence: "exit code 2 before a compaction", script: "keep-context.sh",
		event: events.ContextPreCompact, data: `{"trigger":"auto"}`, want: chain.Denial("Compact by hand: /compact"),
	},
	{
		sentence: "a compaction by hand", script: "keep-context.sh",
		event: events.ContextPreCompact, data: `{"trigger":"manual"}`,
	},
	{
		sentence: "continue false", script: "budget.py", needs: "python3", files: map[string]string{"stop": ""},
		event: events.ToolPre, data: `{"tool_name":"Bash","tool_input":{"command":"ls"}}`,
		want: chain.Result{Action: chain.Deny, Reason: "The budget is spent", UserMessage: "The budget is spent", UserMessageLevel: chain.LevelWarning},
	},
	{
		sentence: "decision block in the old form", script: "legacy.sh",
		event: events.ToolPre, data: `{"tool_name":"WebFetch","tool_input":{"url":"https://x"}}`, want: chain.Denial("WebFetch is off"),
	},
	{
		sentence: "decision approve in the old form", script: "legacy.sh",
		event: events.ToolPre, data: `{"tool_name":"Read","tool_input":{}}`,
	},
	{
		sentence: "an exit code of 1 is a failure", script: "flaky.py", needs: "python3",
		event: events.ToolPre, data: `{"tool_name":"Read","tool_input":{}}`,
		fails: "run sh: exit status 1: KeyError: 'no_such_member'",
	},
}

func TestScriptsOfClaudeCodeRunUnchanged(t *testing.T) {
	for _, c := range claudeScripts {
		// Write all scripts before the first one runs: a program that is still open for writing in
		// a forked child can't be executed.
		project := t.TempDir()
		for name, text := range c.files {
			write(t, filepath.Join(project, name), text, 0o644)
		}
		copyScript(t, c.script, filepath.Join(project, ".claude", "hooks", c.script))
		t.Run(c.script+": "+c.sentence, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(cmp.Or(c.needs, "sh")); err != nil {
				t.Skipf("%s is not installed here", c.needs)
			}
			h, err := exechook.New(exechook.Config{
				Dialect: exechook.ClaudeCode, Matcher: c.matcher, Base: project,
				Command: exechook.Command{"", `"$CLAUDE_PROJECT_DIR"/.claude/hooks/` + c.script},
			})
			if err != nil {
				t.Fatalf("New: %v", err)
			}
			got, err := h(t.Context(), events.Event{ID: "e1", Name: c.event, Session: "s1", Data: json.RawMessage(c.data)})
			if c.fails != "" && (err == nil || !strings.HasPrefix(err.Error(), c.fails)) || c.fails == "" && err != nil {
				t.Fatalf("error %v; want %q", err, c.fails)
			}
			if diff := gocmp.Diff(compact(t, c.want), compact(t, got)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if c.writes != "" && read(t, filepath.Join(project, "notified")) != c.writes {
				t.Errorf("it wrote %q; want %q", read(t, filepath.Join(project, "notified")), c.writes)
			}
		})
	}
}

func copyScript(t *testing.T, name, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, to, read(t, filepath.Join("testdata", "claude", name)), 0o755)
}

// compact returns a result whose data has no insignificant white space.
func compact(t *testing.T, r chain.Result) chain.Result {
	t.Helper()
	if r.Data != nil {
		var v any
		dec := json.NewDecoder(strings.NewReader(string(r.Data)))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("data of the result: %v", err)
		}
		r.Data, _ = json.Marshal(v)
	}
	return r
}

func TestADialectIsCheckedAtLoad(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plain.sh"), "#!/bin/sh\n", 0o644)
	write(t, filepath.Join(dir, "half.sh"), "if true; then\n", 0o644)
	write(t, filepath.Join(dir, "broken.sh"), "#!/bin/sh\nif true; then\n", 0o755)
	for name, c := range map[string]struct{ section, want string }{
		"an unknown dialect":            {"{dialect: cursor, command: [sh]}", `a.yaml:4:21: hooks[0].exec.dialect: there is no dialect "cursor"`},
		"a line without the dialect":    {"{command: ./plain.sh}", "a.yaml:4:21: hooks[0].exec.command: must be a list"},
		"a matcher without the dialect": {"{matcher: Bash, command: [sh]}", "a.yaml:4:21: hooks[0].exec.matcher: belongs to dialect: claude-code"},
		"a matcher of JavaScript":       {"{dialect: claude-code, matcher: '(?!Bash)', command: [sh]}", "a.yaml:4:43: hooks[0].exec.matcher: is not a valid regular expression"},
		"a script that isn't there":     {"{dialect: claude-code, command: ./nothing.sh --fast}", "there is no such file"},
		"one that is not executable":    {`{dialect: claude-code, command: '"$CLAUDE_PROJECT_DIR"/plain.sh'}`, "plain.sh: it is not executable: chmod +x it"},
		"one of a list":                 {"{dialect: claude-code, command: [./plain.sh]}", "hooks[0].exec.command[0]: " + filepath.Join(dir, "plain.sh") + ": it is not executable"},
		"a line without a word":         {"{dialect: claude-code, command: ' '}", "hooks[0].exec.command: must be a list"},
		"a number":                      {"{dialect: claude-code, command: 7}", "hooks[0].exec.command: must be a list"},
		"an empty program":              {`{dialect: claude-code, command: ["", ls]}`, "hooks[0].exec.command: must be a list"},
		"a program that isn't there":    {"{dialect: claude-code, command: no-such-program --fast}", "hooks[0].exec.command: no-such-program: no such program in PATH"},
		"a line that is no shell":       {"{dialect: claude-code, command: 'if true; then exit 2'}", "yntax error"},
		"no script for its interpreter": {`{dialect: claude-code, command: 'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/gone.sh'}`, filepath.Join(dir, ".claude", "hooks", "gone.sh") + ": there is no such file"},
		"no such script, in a list":     {"{dialect: claude-code, command: [sh, ./gone.sh]}", "hooks[0].exec.command[1]: " + filepath.Join(dir, "gone.sh") + ": there is no such file"},
		"one of the user's":             {`{dialect: claude-code, command: '"$HOME"/no/such/hook.sh -x'}`, "/no/such/hook.sh: there is no such file"},
		"one of the user's, shorter":    {"{dialect: claude-code, command: sh ~/no/such/hook.sh}", "/no/such/hook.sh: there is no such file"},
		"a program that is no shell":    {`{dialect: claude-code, command: '"$CLAUDE_PROJECT_DIR"/broken.sh'}`, filepath.Join(dir, "broken.sh") + ": "},
		"such a program of a list":      {"{dialect: claude-code, command: [./broken.sh]}", "hooks[0].exec.command[0]: " + filepath.Join(dir, "broken.sh") + ": "},
		"a directory for a script":      {"{dialect: claude-code, command: 'sh .'}", dir + ": it is a directory"},
		"a script that is no shell":     {"{dialect: claude-code, command: sh half.sh}", filepath.Join(dir, "half.sh") + ": "},
		"an event without counterpart":  {"{dialect: claude-code, command: 'true'}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			event := "tool:pre"
			if c.want == "" {
				event, c.want = "llm:request", "a.yaml:4:21: hooks[0].exec.dialect: Claude Code has no hook for the event llm:request"
			}
			file := "hooks:\n  - id: a\n    events: [\"" + event + "\"]\n    exec: " + c.section + "\n"
			_, err := workerfile.Parse("a.yaml", []byte(file), options(dir))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Parse = %v; want %s", err, c.want)
			}
		})
	}
}

// Some interpreters exit with code 2, the code of a denial, if the script does not exist.
func TestAScriptThatIsGoneDeniesNothing(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "x.sh")
	write(t, script, "exit 2\n", 0o644)
	for name, c := range map[string]exechook.Command{"a line": {"", `sh "$CLAUDE_PROJECT_DIR/x.sh"`}, "a list": {"sh", "x.sh"}} {
		t.Run(name, func(t *testing.T) {
			write(t, script, "exit 2\n", 0o644)
			h, err := exechook.New(exechook.Config{Dialect: exechook.ClaudeCode, Command: c, Base: dir})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := h(t.Context(), bash); err != nil || !got.Denied() {
				t.Errorf("result %+v, %v; want a denial", got, err)
			}
			if err := os.Remove(script); err != nil {
				t.Fatal(err)
			}
			if got, err := h(t.Context(), bash); err == nil || !strings.Contains(err.Error(), "there is no such file") {
				t.Errorf("result %+v, %v; want that the script is not there", got, err)
			}
		})
	}
}

func TestLinesThatOnlyAShellCanReadAreLoaded(t *testing.T) {
	for _, line := range []string{"exit 2", "cd / && ls", "[ -e x ] || exit 2", `"$OTHER/nothing.sh"`, "{ ./nothing.sh; }", "A=b ./nothing.sh", "cat -n", "if true; then exit 2; fi", "sh -c 'exit 2'", `sh "$OTHER/nothing.sh"`} {
		h, err := exechook.New(exechook.Config{Dialect: exechook.ClaudeCode, Command: exechook.Command{"", line}})
		if err != nil || h == nil {
			t.Errorf("New of %q: %v", line, err)
		}
	}
}

func TestErrorsTranslateNamesOfClaudeCode(t *testing.T) {
	_, err := workerfile.Parse("a.yaml", []byte("hooks: [{id: a, events: [PreToolUse], exec: {dialect: claude-code, command: 'true'}}]"), options(t.TempDir()))
	if err == nil || !strings.Contains(err.Error(), "write tool:pre, not PreToolUse") {
		t.Errorf("Parse = %v", err)
	}
}

func TestAnEventThatClaudeCodeDoesNotKnowIsPassedOver(t *testing.T) {
	h, err := exechook.New(exechook.Config{Dialect: exechook.ClaudeCode, Command: exechook.Command{"", "exit 2"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := h(t.Context(), events.Event{Name: events.LLMRequest}); err != nil || got.Denied() {
		t.Errorf("result %+v, %v; want continue", got, err)
	}
	if _, err := h(t.Context(), events.Event{Name: events.ToolPre, Data: []byte(`[`)}); err == nil {
		t.Error("data that is no object is no error")
	}
}

func TestHalfAJSONOfAClaudeScriptIsAFailure(t *testing.T) {
	h, err := exechook.New(exechook.Config{Dialect: exechook.ClaudeCode, Command: exechook.Command{"", `printf '{"decision":"blo'`}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := h(t.Context(), bash)
	if !errors.Is(err, chain.ErrInvalidResult) || !strings.Contains(err.Error(), "begins like JSON") {
		t.Errorf("result %+v, %v; want an error", got, err)
	}
}

func options(dir string) workerfile.Options {
	return workerfile.Options{
		Kinds:  map[string]kind.Kind{"exec": kind.Of("A command.", exechook.Build)},
		Worker: kind.Worker{Dir: dir},
	}
}
