package hookctl_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestHookAdd(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	w := f.Start(cli.Process{}, "hook", "add", "no-rm", "--on", "tool:pre", "--deny", "not here", "--match", "data.command.startsWith('rm')")
	w.Want(`{"kind":"registered","hook":"no-rm","events":["tool:pre"]}`)
	f.Run("emit", "tool:pre", "--set", "command=ls").Want(t, cli.ExitOK,
		`{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":0,"result":{"action":"continue","data":{"command":"ls","timestamp":"TIME"}}}`, "")
	if got := f.Run("emit", "tool:pre", "--set", "command=rm -rf /"); got.Code != cli.ExitDenied || got.Stderr != "denied by no-rm: not here\n" {
		t.Errorf("%+v; want a denial", got)
	}
	w.Want(`{"kind":"call","hook":"no-rm","event":"tool:pre","event_id":"ID","chain_id":"ID","mode":"enforce","us":0,` +
		`"data":{"command":"rm -rf /","timestamp":"TIME"},"result":{"action":"deny","reason":"not here"}}`)
	if got := f.Run("hook", "add", "no-rm", "--on", "x", "--deny", "y"); got.Code != cli.ExitLocal || !strings.HasSuffix(got.Stderr,
		"served already (1 instance): choose another, or take it over with --replace; if its process died, it is free when the router's --ttl (15s by default) is over\n") {
		t.Errorf("a second one: %+v; want that the id is taken", got)
	}
	if code := w.End(); code != cli.ExitOK {
		t.Errorf("exit code %d; want %d", code, cli.ExitOK)
	}
	w.Want(`{"kind":"removed","hook":"no-rm","events":["tool:pre"]}`)
	f.Run("registry").Want(t, cli.ExitOK, "[]", "")
}

func TestHookRmCountsWhoIsLeft(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	serve := func() {
		f.Hook(chain.Registration{ID: "h", Events: []string{"x"}}, clitest.Answering(chain.Result{}))
	}
	serve()
	f.Run("--text", "hook", "rm", "h").Want(t, cli.ExitOK, "removed hook h; its 1 instance registers it again unless it is stopped", "")
	serve()
	serve()
	f.Run("--text", "hook", "rm", "h").Want(t, cli.ExitOK, "removed hook h; its 2 instances register it again unless they are stopped", "")
}

func TestHookRmRemovesSeveral(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	for _, id := range []string{"a", "b"} {
		f.Hook(chain.Registration{ID: id, Events: []string{"x"}}, clitest.Answering(chain.Result{}))
	}
	again := "; its 1 instance registers it again unless it is stopped"
	f.Run("--text", "hook", "rm", "a", "b").Want(t, cli.ExitOK, "removed hook a"+again+"\nremoved hook b"+again, "")
	f.Run("hook", "rm", "nobody", "a").Want(t, cli.ExitLocal, "", "hookctl: remove hook nobody: it is not registered; `hookctl registry` lists the hooks")
}

// Removing a hook that is not registered is an error with a suggestion.
func TestHookRmOfAnUnknownHook(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Run("hook", "rm", "nobody").Want(t, cli.ExitLocal, "", "hookctl: remove hook nobody: it is not registered; `hookctl registry` lists the hooks")
	f.Hook(chain.Registration{ID: "no-rm", Events: []string{"x"}}, clitest.Answering(chain.Result{}))
	f.Run("hook", "rm", "no-rn").Want(t, cli.ExitLocal, "", "hookctl: remove hook no-rn: it is not registered: did you mean no-rm?")
}

func TestAGuardStaysUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	w := f.Start(cli.Process{}, "hook", "add", "guard", "--on", "tool:pre,tool:post", "--inject", "hello", "--on-failure", "deny", "--text")
	w.Want("serving hook guard on tool:pre, tool:post; Ctrl-C ends")
	if got := f.Run("emit", "tool:pre", "--text"); !strings.Contains(got.Stdout, "injects         system: hello\n") {
		t.Errorf("%+v; want an injection", got)
	}
	w.Want(`CLOCK tool:pre         -          inject_context  MS  {"timestamp":"TIME"}`)
	w.End()
	w.Want("hook guard stays registered and, with nobody to serve it, denies tool:pre, tool:post: `hookctl hook rm guard` removes it")
	if got := f.Run("emit", "tool:pre"); got.Code != cli.ExitDenied {
		t.Errorf("%+v; want a denial, since nobody serves the guard", got)
	}
	f.Run("hook", "rm", "guard").Want(t, cli.ExitOK, `{"id":"guard","removed":true,"instances":0}`, "")
	if got := f.Run("emit", "tool:pre"); got.Code != cli.ExitOK {
		t.Errorf("%+v; want no denial after the removal", got)
	}
}

func TestWhatAHookOfOneLineDoes(t *testing.T) {
	f := clibus.New(t, hookctl.Run)
	script := filepath.Join(t.TempDir(), "hook.sh")
	text := "#!/bin/sh\ncat >/dev/null\necho \"{\\\"action\\\":\\\"deny\\\",\\\"reason\\\":\\\"$1 $WORD\\\"}\"\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WORD", "word")
	for name, tt := range map[string]struct {
		args []string
		code int
		text string
	}{
		"asks":           {[]string{"--ask", "Sure?", "--option", "Yes, always", "--option", "No"}, cli.ExitAsk, `"approval_prompt":"Sure?","approval_options":["Yes, always","No"]`},
		"modifies":       {[]string{"--modify", `{"b":2,"a":null}`}, cli.ExitOK, `"data":{"timestamp":"TIME","b":2}`},
		"runs a command": {[]string{"--env", "WORD", "--", script, "--flag"}, cli.ExitDenied, `"reason":"--flag word"`},
		"only listens":   {[]string{"--mode", "observe", "--deny", "never"}, cli.ExitOK, `"action":"continue"`},
		"fails":          {[]string{"--", "sh", "-c", "exit 3"}, cli.ExitOK, `"failed_open":["h"]`},
		"is in time":     {[]string{"--priority=-5", "--timeout", "10s", "--session", "s1", "--inject", "x"}, cli.ExitOK, `"hooks":0`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &clitest.Fixture{T: t, Hookctl: f.Hookctl, Env: f.Env, NC: f.NC}
			w := f.Start(cli.Process{}, append([]string{"hook", "add", "h", "--on", "x"}, tt.args...)...)
			w.Want(`{"kind":"registered","hook":"h","events":["x"]}`)
			got := f.Run("emit", "x", `{"a":1}`)
			if got.Code != tt.code || !strings.Contains(clitest.Steady(got.Stdout), tt.text) {
				t.Errorf("exit code %d, stdout %s; want %d, %s", got.Code, clitest.Steady(got.Stdout), tt.code, tt.text)
			}
			if code := w.End(); code != cli.ExitOK {
				t.Errorf("hook add ended with %d; want %d", code, cli.ExitOK)
			}
		})
	}
}

// An injection by a hook in mode async is in the session's next turn.
func TestHookAddAsync(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	w := f.Start(cli.Process{}, "hook", "add", "lint", "--on", "tool:post", "--mode", "async", "--inject", "main.go:3: unused")
	w.Want(`{"kind":"registered","hook":"lint","events":["tool:post"]}`)
	execute := func(event string) string {
		t.Helper()
		m, err := f.NC.Request("hooks.execute."+event, []byte(`{"session_id":"s1"}`), testkit.Patience)
		if err != nil {
			t.Fatal(err)
		}
		return string(m.Data)
	}
	if got := execute("tool.post"); !strings.Contains(got, `"action":"continue"`) || strings.Contains(got, "unused") {
		t.Errorf("%s; want an answer that does not wait for the hook", got)
	}
	testkit.Eventually(t, "the next turn has the text", func() bool { return strings.Contains(execute("prompt.submit"), "main.go:3: unused") })
	if code := w.End(); code != cli.ExitOK {
		t.Errorf("exit code %d; want %d", code, cli.ExitOK)
	}
}

func TestHookAddRefuses(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	for name, tt := range map[string]struct {
		args []string
		code int
		text string
	}{
		"a bad match":  {[]string{"--deny", "x", "--match", "dta.x"}, cli.ExitRefused, "(400)"},
		"nobody there": {[]string{"--deny", "x", "--prefix", "other"}, cli.ExitDisconnected, "no router answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for a router
			f := &clitest.Fixture{T: t, Hookctl: f.Hookctl, Env: f.Env, NC: f.NC}
			got := f.Run(append([]string{"hook", "add", "h", "--on", "x"}, tt.args...)...)
			if got.Code != tt.code || !strings.Contains(got.Stderr, tt.text) || got.Stdout != "" {
				t.Errorf("exit code %d, stderr %q, stdout %q; want %d, %q", got.Code, got.Stderr, got.Stdout, tt.code, tt.text)
			}
		})
	}
	t.Cleanup(func() { // after all subtests
		if got := (&clitest.Fixture{T: t, Hookctl: f.Hookctl, Env: f.Env, NC: f.NC}).RunIn(context.Background(), cli.Process{}, "registry"); strings.TrimSpace(got.Stdout) != "[]" {
			t.Errorf("registry %q; want that nothing was registered", got.Stdout)
		}
	})
}
