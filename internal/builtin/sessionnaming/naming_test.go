package sessionnaming_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookrouter/hookrouter/internal/builtin/sessionnaming"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func ExampleNew() {
	hook, err := sessionnaming.New(kind.Section{}, sessionnaming.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = hook.Handler(context.Background(), events.Event{
		Name: events.PromptSubmit, Session: "s1", Data: json.RawMessage(`{"prompt":"Hi, could you please fix the login of the admin page? It fails."}`),
	})
	sessions, _ := hook.Contributors["session.metadata"](context.Background(), "session.metadata")
	text, _ := json.Marshal(sessions)
	fmt.Println(string(text), err)
	// Output: [{"description":"Hi, could you please fix the login of the admin page? It fails.","name":"Fix the login of the admin page","session_id":"s1"}] <nil>
}

// session is a hook with a store of its own.
type session struct {
	*testing.T
	kind.Hook
	states *hookstate.Memory
}

func newSession(t *testing.T, o sessionnaming.Options) session {
	t.Helper()
	states := &hookstate.Memory{}
	hook, err := sessionnaming.New(kind.Section{Worker: kind.Worker{States: states}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return session{t, hook, states}
}

func (s session) prompt(text string) error {
	s.Helper()
	data, err := json.Marshal(map[string]string{"prompt": text})
	if err != nil {
		s.Fatal(err)
	}
	_, err = s.Handler(s.Context(), events.Event{Name: events.PromptSubmit, Session: "s1", Data: data})
	return err
}

// named is what is contributed of the session.
func (s session) named() (name, description string) {
	s.Helper()
	value, err := s.Contributors["session.metadata"](s.Context(), "session.metadata")
	if err != nil {
		s.Fatal(err)
	}
	for _, one := range value.([]any) {
		return one.(map[string]any)["name"].(string), one.(map[string]any)["description"].(string)
	}
	return "", ""
}

func TestNames(t *testing.T) {
	for prompt, want := range map[string]string{
		"Fix the login bug":                                              "Fix the login bug",
		"please can you add a --json flag to hookctl?":                   "Add a --json flag to hookctl",
		"I want you to write tests. Use table tests.":                    "Write tests",
		"Hello!\n\nLet's refactor internal/router/emit.go":               "Refactor emit.go",
		"```go\npanic(1)\n```\nWhy does this panic?":                     "Why does this panic",
		"<context>\n</context> explain https://example.org/x/y to me":    "Explain to me",
		"# Task: tidy up":                                                "Task",
		"rewrite the whole billing service so that invoices are rounded": "Rewrite the whole billing service so that invoices",
		"ändere die Überschrift":                                         "Ändere die Überschrift",
		"修复登录错误":                                                         "修复登录错误",
		"deploy with token ghp_0123456789abcdefghijABCDEFGHIJ012345 now": "Deploy with token [REDACTED:github-token] now",
		"hi":                     "",
		"ok, go on":              "",
		"Yes please. Continue.":  "",
		"...":                    "",
		"":                       "",
		"```\nonly code\n```":    "",
		"thanks! 👍":              "",
		"https://example.org/a/": "",
	} {
		s := newSession(t, sessionnaming.Options{})
		if err := s.prompt(prompt); err != nil {
			t.Errorf("%q: %v", prompt, err)
		}
		if got, _ := s.named(); got != want {
			t.Errorf("%q is named %q; want %q", prompt, got, want)
		}
	}
}

func TestTheFirstPromptThatSaysSomethingNames(t *testing.T) {
	s := newSession(t, sessionnaming.Options{UpdateInterval: 3, MaxDescriptionLength: 35})
	for _, prompt := range []string{"hi", "Fix the login", "and now the logout, which fails too"} {
		if err := s.prompt(prompt); err != nil {
			t.Fatal(err)
		}
	}
	if name, description := s.named(); name != "Fix the login" || description != "Fix the login; lately: The logout,…" {
		t.Errorf("%q, %q", name, description)
	}
	if _, err := s.Handler(t.Context(), events.Event{Name: events.SessionEnd, Session: "s1"}); err != nil || s.states.Len() != 0 {
		t.Errorf("%d states are left, %v", s.states.Len(), err)
	}
}

// script is a command that names sessions.
func script(t *testing.T, text string) *exechook.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "name.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return &exechook.Config{Command: []string{path}}
}

func TestACommandNamesBetter(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	s := newSession(t, sessionnaming.Options{MaxNameLength: 10, Command: script(t, `cat >> `+asked+`; printf %s '{"action":"modify","data":{"name":"A name\nthat is too long","description":"D"}}'`)})
	for _, prompt := range []string{"hi", "Fix the login", "and more", "and more"} {
		if err := s.prompt(prompt); err != nil {
			t.Fatal(err)
		}
	}
	if name, description := s.named(); name != "A name th…" || description != "D" {
		t.Errorf("%q, %q", name, description)
	}
	text, err := os.ReadFile(asked)
	var read struct {
		Data struct {
			Naming struct {
				Name    string
				Prompts []string
			}
		}
	}
	if err != nil || json.Unmarshal(text, &read) != nil || read.Data.Naming.Name != "Fix the" || len(read.Data.Naming.Prompts) != 2 {
		t.Errorf("the command is asked %s, %v; want it once, with what is known", text, err)
	}
}

func TestACommandThatFailsKeepsTheName(t *testing.T) {
	for name, text := range map[string]string{"it fails": "exit 1", "it prints no name": `echo '{"action":"modify","data":{"name":7}}'`} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, sessionnaming.Options{Command: script(t, "cat > /dev/null; "+text)})
			if err := s.prompt("Fix the login"); err == nil || strings.Contains(err.Error(), "login") {
				t.Errorf("%v; want an error without the prompt", err)
			}
			if name, _ := s.named(); name != "Fix the login" {
				t.Errorf("%q", name)
			}
		})
	}
}

func TestNoPromptWaitsForAName(t *testing.T) {
	if sessionnaming.Builtin.Registration.Mode != chain.Observe {
		t.Error("it takes part in the chain")
	}
}

func TestTheStateIsBounded(t *testing.T) {
	s := newSession(t, sessionnaming.Options{})
	for range 7 {
		if err := s.prompt(strings.Repeat("<é", 100_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.states.Under(t.Context(), "session-naming", func(_ string, value []byte) bool {
		if len(value) > hookstate.MaxValue {
			t.Errorf("%d bytes", len(value))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]sessionnaming.Options{
		"/max_name_length": {MaxNameLength: -1}, "/max_description_length": {MaxDescriptionLength: 5000}, "/update_interval": {UpdateInterval: -1},
		"/command/command": {Command: &exechook.Config{}}, "/command/command/0": {Command: &exechook.Config{Command: []string{"./nowhere"}}},
	} {
		if _, err := sessionnaming.New(kind.Section{}, o); err == nil || !strings.HasPrefix(err.Error(), want+":") {
			t.Errorf("New = %v; want an error at %s", err, want)
		}
	}
	if hook, err := sessionnaming.New(kind.Section{}, sessionnaming.Options{Private: true}); err != nil || len(hook.Contributors) != 0 {
		t.Errorf("a private one contributes, %v", err)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("Hi, please fix a/b/c.go: it fails!")
	f.Add("```x")
	f.Fuzz(func(t *testing.T, prompt string) {
		s := newSession(t, sessionnaming.Options{MaxNameLength: 20})
		if err := s.prompt(prompt); err != nil {
			t.Fatal(err)
		}
		if name, _ := s.named(); utf8.RuneCountInString(name) > 20 || !utf8.ValidString(name) || strings.ContainsAny(name, "\n\r\x1b") || name != strings.TrimSpace(name) {
			t.Errorf("%q is named %q", prompt, name)
		}
	})
}

// TestACommandIsRunAgainOnlyWhereThatWasSaid: without one the hook only remembers.
func TestACommandIsRunAgainOnlyWhereThatWasSaid(t *testing.T) {
	command := sessionnaming.Options{Command: &exechook.Config{Command: []string{"sh"}}}
	for name, c := range map[string]struct {
		o           sessionnaming.Options
		given, want bool
	}{
		"no command":          {sessionnaming.Options{}, false, true},
		"a command":           {command, false, false},
		"a command that may":  {command, true, true},
		"no command, and may": {sessionnaming.Options{}, true, true},
	} {
		reg := chain.Registration{ReplaySafe: true}
		_, err := sessionnaming.New(kind.Section{Registration: &reg, Given: func(string) bool { return c.given }}, c.o)
		if err != nil || reg.ReplaySafe != c.want {
			t.Errorf("%s: replay_safe is %v, %v; want %v", name, reg.ReplaySafe, err, c.want)
		}
	}
}
