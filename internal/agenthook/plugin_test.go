package agenthook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// calls calls the plug-in as OpenCode does, and prints what became of what it gave.
const calls = `
import { HookRouter } from "./plugin.mjs"
const hooks = await HookRouter({})
const result = {}
const attempt = async (name, call) => { try { await call() } catch (e) { result[name] = e.message } }
const args = { command: "ls", description: "d" }, same = args
await attempt("before", () => hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args }))
result.args = same
const after = { title: "t", output: "secret", metadata: { output: "secret" } }
await attempt("after", () => hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "c", args }, after))
result.result = after
const parts = [{ type: "text", text: "one" }, { type: "file" }, { type: "text", text: "two" }]
await attempt("prompt", () => hooks["chat.message"]({ sessionID: "s" }, { message: {}, parts }))
result.parts = parts.map((part) => part.text)
await attempt("event", () => hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } }))
console.log(JSON.stringify(result))
`

// The plug-in for OpenCode changes the objects in place, and denies where hook-agent does,
// fails, or is not there.
func TestPlugin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, want string }{
		"pass":    {"cat >/dev/null", `{"args":{"command":"ls","description":"d"},"result":{"title":"t","output":"secret","metadata":{"output":"secret"}},"parts":["one",null,"two"]}`},
		"change":  {`cat >/dev/null; echo '{"args":{"command":"pwd"},"output":{"title":"t","output":"x","metadata":{}},"prompt":"new","context":"more"}'`, `{"args":{"command":"pwd"},"result":{"title":"t","output":"x\n\nmore","metadata":{}},"parts":["new",null,"\n\nmore"]}`},
		"deny":    {`cat >/dev/null; echo '{"deny":"no"}'`, `{"before":"no","args":{"command":"ls","description":"d"},"result":{"title":"withheld","output":"no","metadata":{}},"prompt":"no","parts":["one",null,"two"]}`},
		"block":   {`cat >/dev/null; echo why >&2; exit 2`, `{"before":"Blocked, since no policy could be asked: why. Do not`},
		"killed":  {`kill -9 $$`, `{"before":"Blocked, since no policy could be asked: hook-agent ended with`},
		"rubbish": {`cat >/dev/null; echo '{"de'`, `{"before":"Blocked, since no policy could be asked: hook-agent's answer can't be read`},
		"a list":  {`cat >/dev/null; echo '[]'`, `{"before":"Blocked, since no policy could be asked: hook-agent's answer can't be read`},
		"gone":    {"", `{"before":"Blocked, since no policy could be asked: hook-agent can't be started`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, out := runPlugin(t, test.script, calls)
			if !json.Valid([]byte(out)) || !strings.HasPrefix(out, test.want) {
				t.Errorf("%s\nwant %s", out, test.want)
			}
		})
	}
}

// What hooks made of the arguments of a tool is what it runs with: each character of them, and no
// member that hooks took away, whatever its name.
func TestPluginPutsArgumentsInPlace(t *testing.T) {
	t.Parallel()
	const script = `cat >/dev/null; printf '{"args":{"command":"\303'; sleep 0.2; printf '\251","__proto__":1}}'`
	_, out := runPlugin(t, script, `import { HookRouter } from "./plugin.mjs"
const hooks = await HookRouter({})
const args = { command: "ls", constructor: "x", toString: "y" }
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args })
console.log(JSON.stringify(args))`)
	if out != `{"command":"é","__proto__":1}` {
		t.Error(out)
	}
}

// What hooks say of a message that is only a file reaches the model too.
func TestPluginAddsToAMessageWithoutText(t *testing.T) {
	t.Parallel()
	const script = `cat >/dev/null; echo '{"prompt":"new","context":"more"}'`
	_, out := runPlugin(t, script, `import { HookRouter } from "./plugin.mjs"
const hooks = await HookRouter({})
const parts = [{ id: "prt_2026", type: "file" }]
await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts })
const ids = new Set(parts.map((part) => part.id))
console.log(JSON.stringify([ids.size, parts.slice(1).map(({ id, ...part }) => part)]))`)
	const part = `{"sessionID":"s","messageID":"m","type":"text","text":`
	if out != `[3,[`+part+`"new"},`+part+`"more","synthetic":true}]]` {
		t.Error(out)
	}
}

// A file that OpenCode has read for a prompt is judged as a call of its read tool.
func TestPluginAsksAboutTheFilesOfAPrompt(t *testing.T) {
	t.Parallel()
	dir, out := runPlugin(t, `case "$2" in tool.*) cat > sent.json; echo '{"deny":"no"}';; *) cat >/dev/null; esac`, `import { HookRouter } from "./plugin.mjs"
const hooks = await HookRouter({})
const text = 'Called the Read tool with the following input: {"filePath":"/etc/x"}'
for (const part of [{ text }, { text, synthetic: true }, { text: text + "}", synthetic: true }]) {
  await hooks["chat.message"]({ sessionID: "s" }, { message: {}, parts: [{ type: "text", ...part }] }).then(() => console.log("passed"), (e) => console.log(e.name, e.message))
}`)
	if lines := strings.Split(out, "\n"); len(lines) != 3 || lines[0] != "passed" || lines[1] != "Error no" || !strings.HasPrefix(lines[2], "SyntaxError") {
		t.Error(out)
	}
	if sent, err := os.ReadFile(filepath.Join(dir, "sent.json")); err != nil || !strings.Contains(string(sent), `"tool_name":"read","tool_input":{"filePath":"/etc/x"}`) {
		t.Errorf("%v: hooks see %s", err, sent)
	}
}

// What a tool of an MCP server returned has another form: hooks see it, and withhold it, change it
// and add to it there.
func TestPluginReadsTheContentOfMCPTools(t *testing.T) {
	t.Parallel()
	const call = `import { HookRouter } from "./plugin.mjs"
const hooks = await HookRouter({})
const output = { content: [{ type: "text", text: "secret" }], structuredContent: { text: "secret" } }
await hooks["tool.execute.after"]({ tool: "files_read", sessionID: "s", callID: "c", args: {} }, output)
console.log(JSON.stringify(output))`
	for script, want := range map[string]string{
		`echo '{"deny":"no"}'`: `{"content":[{"type":"text","text":"no"}]}`,
		`echo '{"output":{"content":[{"type":"text","text":"x"}]},"context":"more"}'`: `{"content":[{"type":"text","text":"x"},{"type":"text","text":"more"}]}`,
	} {
		dir, out := runPlugin(t, "cat > sent.json; "+script, call)
		if out != want {
			t.Errorf("%s: %s; want %s", script, out, want)
		}
		if sent, err := os.ReadFile(filepath.Join(dir, "sent.json")); err != nil || !strings.Contains(string(sent), `"tool_result":{"content":[{"type":"text","text":"secret"}]}`) {
			t.Errorf("%v: hooks see %s", err, sent)
		}
	}
}

// One process of OpenCode may serve many directories: hooks hear of the one that its tools run in.
func TestPluginNamesTheDirectory(t *testing.T) {
	t.Parallel()
	dir, _ := runPlugin(t, "cat > sent.json", `import { HookRouter } from "./plugin.mjs"
const hooks = await HookRouter({ directory: "/srv/project" })
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: {} })`)
	if sent, err := os.ReadFile(filepath.Join(dir, "sent.json")); err != nil || !strings.Contains(string(sent), `"cwd":"/srv/project"`) {
		t.Errorf("%v: %s", err, sent)
	}
}

// Arguments that JSON can't hold are denied, and no program is left waiting for them.
func TestPluginStartsNothingForWhatItCantSend(t *testing.T) {
	t.Parallel()
	dir, out := runPlugin(t, "touch started", `import { HookRouter } from "./plugin.mjs"
const hooks = await HookRouter({})
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: { n: 1n } }).catch((e) => console.log(e.message))`)
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil || !strings.HasPrefix(out, "Blocked, since no policy could be asked: TypeError") {
		t.Errorf("%v, %s", err, out)
	}
}

// People see what hooks say to them, and what hook-agent notes while it waits.
func TestPluginShowsMessages(t *testing.T) {
	t.Parallel()
	const script = `cat >/dev/null; echo 'waiting for a person' >&2; sleep 0.2; echo '{"message":"TOLD"}'`
	_, out := runPlugin(t, script, `import { HookRouter } from "./plugin.mjs"
const shown = []
const showToast = ({ body }) => { shown.push(body.message); throw new Error("no terminal") }
const hooks = await HookRouter({ client: { tui: { showToast } } })
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: {} })
console.log(JSON.stringify(shown))`)
	if out != `["waiting for a person","TOLD"]` {
		t.Error(out)
	}
}

// A sub-agent of OpenCode names the session that spawned it.
func TestPluginNamesTheParent(t *testing.T) {
	t.Parallel()
	dir, _ := runPlugin(t, "cat > sent.json", `import { HookRouter } from "./plugin.mjs"
const hooks = await HookRouter({})
await hooks.event({ event: { type: "session.created", properties: { info: { id: "child", parentID: "above" } } } })`)
	var sent struct {
		Session string `json:"session_id"`
		Parent  string `json:"parent_session_id"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "sent.json"))
	if err != nil || json.Unmarshal(text, &sent) != nil || sent.Session != "child" || sent.Parent != "above" {
		t.Errorf("%v: %s", err, text)
	}
}

// runPlugin runs calls of the plug-in with a script as hook-agent, or with none if it is empty. It
// returns the directory where they ran and what the calls printed.
func runPlugin(t *testing.T, script, calls string) (dir, out string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node")
	}
	testkit.From(t, testkit.CI)
	dir = t.TempDir()
	program := filepath.Join(dir, "hook-agent")
	files := map[string]string{filepath.Join(dir, "plugin.mjs"): agenthook.Plugin(program, []string{"opencode"}), filepath.Join(dir, "calls.mjs"): calls}
	if script != "" {
		files[program] = "#!/bin/sh\n" + script
	}
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), node, "calls.mjs")
	c.Dir = dir
	printed, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	return dir, strings.TrimSpace(string(printed))
}
