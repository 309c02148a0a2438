package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Hooks that people added next to hook-agent after connecting stay.
func TestKeepsTheHooksOfPeople(t *testing.T) {
	t.Parallel()
	for name, command := range map[string]string{
		"in an entry of hook-agent":       "their-linter",
		"with hook-agent in its name":     "/opt/hook-agent-logger --for claude-code --out /var/log/hooks",
		"that only speaks of hook-agent":  "echo hook-agent asks for claude-code now",
		"with a flag of the same name":    "lint --timeout=9s claude-code PreToolUse",
		"with another agent's hook-agent": "hook-agent --server=x --timeout=9s codex PreToolUse",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			path := m.write(".claude/settings.json", "{\n  \"model\": \"x\"\n}\n")
			m.connect("claude-code")
			connected, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			const handlers = `"hooks": [` + "\n"
			theirs := `{"type": "command", "command": "` + command + `"}`
			m.write(".claude/settings.json", strings.ReplaceAll(string(connected), handlers, handlers+theirs+","))
			m.connect("claude-code")
			m.connect("claude-code")
			again, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Count(string(connected), handlers)
			if n := strings.Count(string(again), command); n != want {
				t.Errorf("%d of %d are there after connect: %s", n, want, again)
			}
			if n := strings.Count(string(again), m.hookAgent); n != want {
				t.Errorf("%d hooks are ours, want %d", n, want)
			}
			m.must("--text", "disconnect", "claude-code", "--yes")
			left, err := os.ReadFile(path)
			if err != nil || strings.Count(string(left), command) != want || strings.Contains(string(left), m.hookAgent) {
				t.Errorf("%v: left %s", err, left)
			}
		})
	}
}

// hook-agent may have any name.
func TestFindsAHookAgentOfAnotherName(t *testing.T) {
	t.Parallel()
	for agent, file := range settings {
		m := newMachine(t)
		m.hookAgent = m.write("bin/asks", "#!/bin/sh\n")
		m.write(file, "{\"a\": 1}")
		before := m.files()
		m.connect(agent)
		once := m.files()
		m.connect(agent)
		if twice := m.files(); !equal(once, twice) {
			t.Errorf("%s: the second time changes something", agent)
		}
		m.must("--text", "disconnect", agent, "--yes")
		if after := m.files(); !equal(before, after) {
			t.Errorf("%s: left %q", agent, after)
		}
	}
}

// Disconnecting removes no directory that connect did not create, and no link.
func TestLeavesDirectoriesAndLinks(t *testing.T) {
	m := newMachine(t)
	for _, dir := range []string{"work/empty", "dotfiles/copilot"} {
		if err := os.MkdirAll(filepath.Join(m.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	project := filepath.Join(m.home, "work", "empty")
	t.Chdir(project)
	links := map[string]string{".copilot": "dotfiles/copilot", ".claude/settings.json": "../dotfiles/claude.json"}
	for link, to := range links {
		path := filepath.Join(m.home, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"claude-code", "--scope=project"}, {"opencode", "--scope=project"}, {"copilot"}, {"claude-code"}} {
		m.connect(args[0], args[1:]...)
		m.must(append([]string{"--text", "disconnect", "--yes"}, args...)...)
	}
	if left, err := os.ReadDir(project); err != nil || len(left) > 0 {
		t.Errorf("the project: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(m.home, "dotfiles", "copilot")); err != nil {
		t.Error(err)
	}
	for link, want := range links {
		if to, err := os.Readlink(filepath.Join(m.home, link)); err != nil || to != want {
			t.Errorf("%s leads to %q, %v", link, to, err)
		}
	}
}

// If somebody added a hook to a TOML entry of hook-agent, the entry stays with that hook.
func TestKeepsTheHooksOfPeopleInTOML(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	path := m.write(".codex/config.toml", joinable["hooks"])
	m.connect("codex")
	connected, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const theirs = "[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"say done\"\n"
	entry, rest, found := strings.Cut(string(connected), "codex Stop\"\n")
	limit, rest, ended := strings.Cut(rest, "\n")
	if !found || !ended {
		t.Fatalf("no hook for Stop in %s", connected)
	}
	m.write(".codex/config.toml", entry+"codex Stop\"\n"+limit+"\n"+theirs+rest)
	m.connect("codex")
	m.must("--text", "disconnect", "codex", "--yes")
	left, err := os.ReadFile(path)
	if want := joinable["hooks"] + "\n[[hooks.Stop]]\n" + theirs; err != nil || string(left) != want {
		t.Errorf("%v, left\n%s\nwant\n%s", err, left, want)
	}
}

// A file at the place of hook-agent's own that another program wrote, or that a link leads to,
// stays as it is: a project may come with a link to any file of the user.
func TestLeavesTheFilesOfOthers(t *testing.T) {
	t.Parallel()
	for agent, file := range map[string]string{
		"copilot": ".copilot/hooks/hookrouter.json", "goose": ".agents/plugins/hookrouter/hooks/hooks.json", "opencode": ".config/opencode/plugin/hookrouter.js",
	} {
		m := newMachine(t)
		theirs := m.write("theirs", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"hook-agent claude-code PreToolUse"}]}]}}`)
		link := filepath.Join(m.home, file)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(theirs, link); err != nil {
			t.Fatal(err)
		}
		before := m.files()
		for _, command := range []string{"connect", "disconnect"} {
			args := []string{"--text", command, agent, "--yes"}
			if command == "connect" {
				args = append(args, "--hook-agent", m.hookAgent)
			}
			if o := m.run("", args...); o.code == 0 || !strings.Contains(o.stderr, "is not a file that connect wrote") {
				t.Errorf("%s %s: %+v; want it refused", command, agent, o)
			}
		}
		if after := m.files(); !equal(before, after) {
			t.Errorf("%s: left %q", agent, after)
		}
	}
}

// Settings that an agent may read in another way than connect are refused: hooks in the first of two
// members of a name never run.
func TestRefusesAmbiguousSettings(t *testing.T) {
	t.Parallel()
	for agent, file := range settings {
		for _, text := range []string{`{"hooks":{},"hooks":{}}`, `{"hooks":{"Stop":[],"Stop":[]}}`, "{\"a\":\"\xff\"}"} {
			m := newMachine(t)
			m.write(file, text)
			before := m.files()
			if o := m.run("", "--text", "connect", agent, "--hook-agent", m.hookAgent, "--yes"); o.code == 0 || !strings.Contains(o.stderr, "repair it first") {
				t.Errorf("%s, %q: %+v; want it refused", agent, text, o)
			}
			if after := m.files(); !equal(before, after) {
				t.Errorf("%s, %q: left %q", agent, text, after)
			}
		}
	}
}

// An event of another form, which the agent does not know, hides no hook from the list.
func TestListsHooksBesideAnythingElse(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write(".gemini/settings.json", `{"hooks":{"Unknown":{}}}`)
	m.connect("gemini")
	if list := m.must("--json", "connect"); !strings.Contains(list, `"agent":"gemini","name":"Gemini CLI","installed":false,"connected":["user"]`) {
		t.Errorf("%s; want gemini connected", list)
	}
}
