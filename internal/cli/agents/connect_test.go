package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tailscale/hujson"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/agents"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // the tests wait for programs
	goleak.VerifyTestMain(m)
}

// machine is a home directory with a hook-agent, and hookctl in it.
type machine struct {
	t    *testing.T
	home string
	env  map[string]string

	hookAgent string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, home: t.TempDir()}
	m.env = map[string]string{"HOME": m.home, "PATH": filepath.Join(m.home, "bin")}
	m.hookAgent = m.write("bin/hook-agent", "#!/bin/sh\n")
	return m
}

func (m *machine) write(name, text string) string {
	m.t.Helper()
	path := filepath.Join(m.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	syscall.ForkLock.RLock() // a child forked now would keep the program open for writing, so that it can't be started
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// files returns all files below the home, with their content and permissions.
func (m *machine) files() map[string]string {
	m.t.Helper()
	all := map[string]string{}
	if err := filepath.WalkDir(m.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		all[strings.TrimPrefix(path, m.home+"/")] = info.Mode().String() + " " + string(text)
		return err
	}); err != nil {
		m.t.Fatal(err)
	}
	return all
}

type outcome struct {
	code           int
	stdout, stderr string
}

func (m *machine) run(stdin string, args ...string) outcome {
	m.t.Helper()
	var stdout, stderr bytes.Buffer
	var commands struct {
		Connect    agents.ConnectCmd    `cmd:""`
		Disconnect agents.DisconnectCmd `cmd:""`
		Doctor     agents.DoctorCmd     `cmd:""`
	}
	code := cli.Run(context.Background(), args, cli.Process{
		Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return m.env[name] },
	}, &commands)
	return outcome{code, stdout.String(), stderr.String()}
}

func (m *machine) must(args ...string) string {
	m.t.Helper()
	o := m.run("", args...)
	if o.code != 0 {
		m.t.Fatalf("%v: %+v", args, o)
	}
	return o.stdout
}

func (m *machine) connect(agent string, args ...string) string {
	m.t.Helper()
	return m.must(append([]string{"--text", "connect", agent, "--yes", "--hook-agent", m.hookAgent}, args...)...)
}

// settings are the files that people edit, by agent.
var settings = map[string]string{
	"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json", "qwen": ".qwen/settings.json",
}

// wild are realistic configurations.
var wild = map[string]string{
	"empty":                 "",
	"blank":                 "\n",
	"an object":             "{}",
	"an object, a line":     "{}\n",
	"an object, two lines":  "{\n}\n",
	"settings":              "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\"Bash(git *)\"],\n    \"deny\": []\n  }\n}\n",
	"four blanks":           "{\n    \"theme\": \"dark\",\n    \"env\": { \"A\": \"1\" }\n}\n",
	"tabs":                  "{\n\t\"theme\": \"dark\"\n}\n",
	"minified":              `{"theme":"dark","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`,
	"CRLF":                  "{\r\n  \"theme\": \"dark\",\r\n  \"hooks\": {}\r\n}\r\n",
	"no newline at its end": "{\n  \"a\": 1\n}",
	"a line comment":        "{\n  // mine\n  \"a\": 1 // one\n}\n",
	"a block comment":       "/* mine */ {\n  \"a\": /* b */ 1\n}\n/* end */\n",
	"trailing commas":       "{\n  \"a\": [1, 2,],\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [],},\n    ],\n  },\n}\n",
	"hooks of their own":    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"~/bin/lint.sh\" }\n        ]\n      }\n    ],\n    \"BeforeTool\": [ { \"matcher\": \"*\", \"hooks\": [] } ]\n  },\n  \"model\": \"x\"\n}\n",
	"empty hooks":           "{\n  \"hooks\": {}\n}\n",
	"empty lists":           "{ \"hooks\": { \"PreToolUse\": [], \"BeforeTool\": [ ], \"Stop\": [\n] } }\n",
	"commented hooks":       "{\n  \"hooks\": {\n    // \"PreToolUse\": []\n  }\n}\n",
	"hooks first":           "{\"hooks\": {\"Notification\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}]}, \"z\": null, \"a\": [1.50, 1e3, \"\\u00e9\"]}\n",
	"odd spaces":            "{ \"a\" :1 ,\"b\":  { } ,\n\n\n  \"hooks\" : { \"SessionEnd\" :[ {\"hooks\":[]} ] } }   \n\n",
	"excludes":              "{\n  \"claudeMdExcludes\": [\n    \"/other/CLAUDE.md\"\n  ]\n}\n",
	"another scope's name":  "{\n  \"disableAllHooks\": false,\n  \"statusLine\": {\"type\": \"command\", \"command\": \"echo hook-agent\"}\n}\n",
}

// Connecting twice writes once and keeps the existing content. Disconnecting restores every byte
// and permission.
func TestConnectAndDisconnect(t *testing.T) {
	t.Parallel()
	for agent, file := range settings {
		for name, text := range wild {
			t.Run(agent+" "+name, func(t *testing.T) {
				t.Parallel()
				m := newMachine(t)
				path := m.write(file, text)
				before := m.files()
				m.connect(agent)
				once := m.files()
				m.connect(agent)
				if twice := m.files(); !equal(once, twice) {
					t.Errorf("the second time changes something: %v", twice)
				}
				checkConnected(t, agent, path, text)
				m.must("--text", "disconnect", agent, "--yes")
				if after := m.files(); !equal(before, after) {
					t.Errorf("left\n%q\nwant\n%q", after, before)
				}
			})
		}
	}
}

func equal(a, b map[string]string) bool {
	same := len(a) == len(b)
	for name := range a {
		same = same && a[name] == b[name]
	}
	return same
}

// checkConnected reads a configuration as its agent does: each event has hook-agent, and the
// earlier content is still there.
func checkConnected(t *testing.T, agent, path, before string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now, was := standard(t, string(text)), standard(t, before)
	d, _ := agenthook.Find(agent)
	hooks, _ := now["hooks"].(map[string]any)
	old, _ := was["hooks"].(map[string]any)
	for _, e := range d.Events {
		list, _ := hooks[e.Native].([]any)
		had, _ := old[e.Native].([]any)
		if len(list) != len(had)+1 {
			t.Errorf("%s has %d entries, had %d", e.Native, len(list), len(had))
			continue
		}
		if added, _ := json.Marshal(list[len(list)-1]); !strings.Contains(string(added), agent+" "+e.Native+`"`) {
			t.Errorf("%s has %s", e.Native, added)
		}
		if kept, _ := json.Marshal(list[:len(had)]); len(had) > 0 && string(kept) != encoded(had) {
			t.Errorf("%s kept %s, want %s", e.Native, kept, encoded(had))
		}
	}
	delete(now, "hooks")
	delete(was, "hooks")
	if agent == "claude-code" {
		kept, _ := was["claudeMdExcludes"].([]any)
		if got := encoded(now["claudeMdExcludes"]); got != encoded(append(kept, "**/!(*.md)")) {
			t.Errorf("CLAUDE.md can't import %s", got)
		}
		delete(now, "claudeMdExcludes")
		delete(was, "claudeMdExcludes")
	}
	if encoded(now) != encoded(was) {
		t.Errorf("kept %s, want %s", encoded(now), encoded(was))
	}
	for line := range strings.Lines(before) {
		if comment := strings.TrimSpace(line); strings.HasPrefix(comment, "//") && !strings.Contains(string(text), comment) {
			t.Errorf("lost the comment %s", comment)
		}
	}
}

func standard(t *testing.T, text string) map[string]any {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return map[string]any{}
	}
	plain, err := hujson.Standardize([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	if err := json.Unmarshal(plain, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func encoded(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// If there was no configuration, disconnecting leaves none.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, d := range agenthook.Dialects() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			before := m.files()
			m.connect(d.Name)
			once := m.files()
			if len(once) == len(before) {
				t.Error("nothing was written")
			}
			m.connect(d.Name)
			if !equal(once, m.files()) {
				t.Error("the second time changes something")
			}
			if listed := m.must("--text", "connect"); !strings.Contains(line(listed, d.Name), "user") {
				t.Errorf("listed as %s", line(listed, d.Name))
			}
			m.must("--text", "disconnect", d.Name, "--yes")
			if after := m.files(); !equal(before, after) {
				t.Errorf("left %q", after)
			}
		})
	}
}

func line(text, begin string) string {
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, begin) {
			return l
		}
	}
	return ""
}

// Edits after connecting survive disconnecting.
func TestLaterEditsStay(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	path := m.write(".claude/settings.json", wild["hooks of their own"])
	m.connect("claude-code")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m.write(".claude/settings.json", strings.Replace(string(text), `"model": "x"`, `"model": "y"`, 1))
	m.must("--text", "disconnect", "claude-code", "--yes")
	left, err := os.ReadFile(path)
	if want := strings.Replace(wild["hooks of their own"], `"model": "x"`, `"model": "y"`, 1); err != nil || string(left) != want {
		t.Errorf("%v, left\n%s\nwant\n%s", err, left, want)
	}
}

// An agent that is not installed yet can be connected; hookctl reports that.
func TestConnectSaysWhatIsNotInstalled(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	const note = "claude is not in PATH"
	if said := m.connect("claude-code"); !strings.Contains(said, note) {
		t.Errorf("no %q in:\n%s", note, said)
	}
	m.must("--text", "disconnect", "claude-code", "--yes")
	if err := os.Chmod(m.write("bin/claude", "#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if said := m.connect("claude-code"); strings.Contains(said, note) {
		t.Errorf("claude is installed, and hookctl says:\n%s", said)
	}
}

// Other flags change the command lines, and disconnecting still restores every byte.
func TestConnectAgainElsewhere(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	path := m.write(".gemini/settings.json", wild["tabs"])
	before := m.files()
	m.connect("gemini")
	m.env["NATS_URL"] = "nats://10.0.0.1:4222"
	m.connect("gemini", "--timeout=1h")
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), "127.0.0.1") || !strings.Contains(string(text), "3600000") {
		t.Errorf("%v: %s", err, text)
	}
	m.must("--text", "disconnect", "gemini", "--yes")
	if after := m.files(); !equal(before, after) {
		t.Errorf("left %q", after)
	}
}

// A summary names the files and hooks that change; each line is shown on request.
func TestASummaryStandsBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	path := m.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n")
	args := []string{"--text", "connect", "claude-code", "--hook-agent", m.hookAgent}
	said := m.run("n\n", args...).stdout
	for _, want := range []string{
		path + "\n  runs     " + m.hookAgent, "claude-code EVENT\n  waits    at most 10m0s for an answer", "\n  gates    UserPromptSubmit, PreToolUse, PreSkillShellCommand, ConfigChange, PermissionRequest, PostToolUse, PreCompact\n  also at  SessionStart, ",
		"  stays    everything else; a copy is kept in ", "\n--diff shows each line.\n",
	} {
		if !strings.Contains(strings.ReplaceAll(said, "\n           ", " "), want) || strings.Count(said, "\n") > 16 {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	const line = `  +     "PreToolUse": [`
	before := m.files()
	if said := m.run("n\n", append(args, "--diff")...).stdout; !strings.Contains(said, line) || strings.Contains(said, "gates") {
		t.Errorf("--diff:\n%s", said)
	}
	if said := m.must(append(args, "--dry-run")...); !strings.Contains(said, line) || !strings.HasSuffix(said, "Nothing was written: --dry-run.\n") || !equal(before, m.files()) {
		t.Errorf("--dry-run:\n%s", said)
	}
	m.connect("claude-code")
	if said := m.run("n\n", "--text", "disconnect", "claude-code").stdout; !strings.Contains(said, "  removes  hook-agent from UserPromptSubmit, ") || !strings.Contains(said, "  stays    everything else\n") {
		t.Errorf("disconnect:\n%s", said)
	}
}

// A change to anything other than hooks, or a short one, is shown as a diff.
func TestWhatASummaryWouldHideIsShown(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if said := m.run("n\n", "--text", "connect", "codex", "--hook-agent", m.hookAgent).stdout; !strings.Contains(said, "config.toml (new)\n  + \n  + [features]\n") || !strings.Contains(said, "  gates    ") {
		t.Errorf("codex:\n%s", said)
	}
}

// The change is shown, and nothing is written without confirmation. Links stay links.
func TestAsksBeforeItWrites(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	real := m.write("dotfiles/claude.json", "{\n  \"a\": 1\n}\n")
	link := filepath.Join(m.home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	before := m.files()
	args := []string{"--text", "connect", "claude-code", "--hook-agent", m.hookAgent}
	for _, answer := range []string{"", "\n", "n\n", "what\n"} {
		o := m.run(answer, args...)
		if o.code != 1 || !strings.Contains(o.stdout, "  gates    UserPromptSubmit, PreToolUse, ") || !strings.Contains(o.stderr, "nothing was written") || !equal(before, m.files()) {
			t.Errorf("%q: %+v", answer, o)
		}
		if ended := strings.Contains(o.stderr, "[y/N] \n"); ended != (answer == "") {
			t.Errorf("%q: %q; want a new line where nobody typed one", answer, o.stderr)
		}
	}
	if o := m.run("y\n", args...); o.code != 0 {
		t.Errorf("%+v", o)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v: the link is gone", err)
	}
}

// Unreadable files are left alone.
func TestLeavesAloneWhatItCantRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"broken": `{"a":`, "a list": `[]`, "hooks that are none": `{"hooks": []}`, "an event that is none": `{"hooks": {"Stop": {}}}`, "a BOM": "\xef\xbb\xbf{}",
	} {
		m := newMachine(t)
		m.write(".claude/settings.json", text)
		before := m.files()
		o := m.run("", "--text", "connect", "claude-code", "--yes", "--hook-agent", m.hookAgent)
		if o.code != 1 || !strings.Contains(o.stderr, "settings.json") || !equal(before, m.files()) {
			t.Errorf("%s: %+v", name, o)
		}
	}
	m := newMachine(t)
	for _, args := range [][]string{
		{"connect", "clod"}, {"connect", "goose", "--scope=managed"}, {"connect", "claude-code", "--timeout=1s"}, {"connect", "claude-code", "--hook-agent=/nowhere"},
	} {
		if o := m.run("", append([]string{"--text"}, args...)...); o.code != 1 {
			t.Errorf("%v: %+v", args, o)
		}
	}
}

// An error names a file that its agent can't read either, with what to do.
func TestAMalformedFileIsNamed(t *testing.T) {
	t.Parallel()
	for file, agent := range map[string]string{".claude/settings.json": "claude-code", ".codex/hooks.json": "codex", ".codex/config.toml": "codex"} {
		m := newMachine(t)
		path := m.write(file, `{"hooks":`)
		want := path + ": repair it first: it is not valid " + strings.ToUpper(strings.Trim(filepath.Ext(path), ".")) + ": "
		for _, args := range [][]string{{"connect", agent, "--hook-agent", m.hookAgent}, {"disconnect", agent}} {
			if o := m.run("", append(args, "--text", "--yes")...); o.code != 1 || !strings.Contains(o.stderr, want) {
				t.Errorf("%v: %+v; want %s", args, o, want)
			}
		}
	}
}

// Credentials that hook-agent could not read are rejected.
func TestConnectReadsTheCredentials(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	before := m.files()
	for _, creds := range []string{filepath.Join(m.home, "nope.creds"), m.home} {
		o := m.run("", "--text", "connect", "claude-code", "--yes", "--hook-agent", m.hookAgent, "--creds", creds)
		if o.code != 1 || !strings.Contains(o.stderr, "read --creds: ") || !strings.Contains(o.stderr, creds) || !equal(before, m.files()) {
			t.Errorf("%s: %+v", creds, o)
		}
	}
	m.connect("claude-code", "--creds", m.write("own.creds", "x"))
}

// Disconnecting in the wrong scope fails with the right scope in the error.
func TestDisconnectNamesTheScope(t *testing.T) {
	m := newMachine(t)
	t.Chdir(t.TempDir())
	m.connect("claude-code", "--scope", "project")
	o := m.run("", "--text", "disconnect", "claude-code", "--yes")
	if o.code != 1 || o.stderr != "hookctl: claude-code is not connected in the scope user, but in project: add --scope project\n" {
		t.Errorf("%+v", o)
	}
	m.must("--text", "disconnect", "claude-code", "--yes", "--scope", "project")
	if said := m.must("--text", "disconnect", "claude-code", "--yes"); said != "Nothing to change.\n" {
		t.Errorf("it says %q", said)
	}
}
