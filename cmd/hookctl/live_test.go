package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

func (b *background) want(lines ...string) {
	b.t.Helper()
	for _, want := range lines {
		if got := steady(b.line()); got != want {
			b.t.Errorf("line %q; want %q", got, want)
		}
	}
}

func TestWatch(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "guard", Events: []string{"tool:pre"}}, answering(chain.Denial("no\x1b[2J")))
	w := f.start(process{}, "watch", "tool:*")
	w.want("watching tool:* with prefix hooks; Ctrl-C ends")
	f.run("emit", "prompt:submit", "{}") // another event
	f.run("emit", "tool:pre", `{"n":1}`, "--session", "s1")
	w.want(
		`{"kind":"event","event":"tool:pre","session_id":"s1","event_id":"ID","chain_id":"ID","source":"/hookctl","time":"TIME","data":{"n":1}}`,
		`{"kind":"result","event":"tool:pre","session_id":"s1","event_id":"ID","chain_id":"ID",`+
			`"result":{"chain_id":"ID","event_id":"ID","session_id":"s1","event":"tool:pre","action":"deny","reason":"no\u001b[2J","denied_by":"guard",`+
			`"hooks":[{"id":"guard","action":"deny","us":0}]}}`,
	)
	f.run("emit", "error:tool", `{}`) // an alias of tool:error
	if got := w.line(); !strings.HasPrefix(got, `{"kind":"event","event":"error:tool"`) {
		t.Errorf("line %q; want the alias's event", got)
	}
	w.line()
	if code := w.end(); code != exitOK {
		t.Errorf("exit code %d; want %d", code, exitOK)
	}
}

func TestWatchForPeople(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "guard", Events: []string{"tool:error"}}, answering(chain.Denial("no\x1b[2J")))
	w := f.start(process{}, "watch", "tool:error", "--text", "--session", "s1")
	w.want("watching tool:error with prefix hooks; Ctrl-C ends")
	f.run("emit", "tool:error", `{}`) // no session
	f.run("emit", "error:tool", `{"a":"\u009b2J"}`, "--session", "s1")
	w.want(
		`CLOCK event   error:tool       s1         {"a":"\u009b2J"}`,
		`CLOCK result  error:tool       s1         deny by guard: no[2J  [guard deny MS]`,
	)
	w.end()
	all := f.start(process{}, "watch", "--text")
	all.want("watching * with prefix hooks; Ctrl-C ends")
	for subject, body := range map[string]string{"hooks.result.x": "{"} {
		if err := f.nc.PublishMsg(&nats.Msg{Subject: subject, Data: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	all.want("CLOCK broken  x                -          read result: unexpected end of JSON input")
	all.end()
}

func TestHookAdd(t *testing.T) {
	f := newFixture(t)
	w := f.start(process{}, "hook", "add", "no-rm", "--on", "tool:pre", "--deny", "not here", "--match", "data.command.startsWith('rm')")
	w.want(`{"kind":"registered","hook":"no-rm","events":["tool:pre"]}`)
	f.run("emit", "tool:pre", "--set", "command=ls").want(t, exitOK,
		`{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":0,"result":{"action":"continue","data":{"command":"ls","timestamp":"TIME"}}}`, "")
	if got := f.run("emit", "tool:pre", "--set", "command=rm -rf /"); got.code != exitDenied || got.stderr != "denied by no-rm: not here\n" {
		t.Errorf("%+v; want a denial", got)
	}
	w.want(`{"kind":"call","hook":"no-rm","event":"tool:pre","event_id":"ID","chain_id":"ID","mode":"enforce","us":0,` +
		`"data":{"command":"rm -rf /","timestamp":"TIME"},"result":{"action":"deny","reason":"not here"}}`)
	if got := f.run("hook", "add", "no-rm", "--on", "x", "--deny", "y"); got.code != exitLocal || !strings.HasSuffix(got.stderr,
		"served already (1 instance): choose another, or take it over with --replace; if its process died, it is free when the router's --ttl (15s by default) is over\n") {
		t.Errorf("a second one: %+v; want that the id is taken", got)
	}
	if code := w.end(); code != exitOK {
		t.Errorf("exit code %d; want %d", code, exitOK)
	}
	w.want(`{"kind":"removed","hook":"no-rm","events":["tool:pre"]}`)
	f.run("registry").want(t, exitOK, "[]", "")
}

func TestHookRmCountsWhoIsLeft(t *testing.T) {
	f := newFixture(t)
	serve := func() {
		f.hook(chain.Registration{ID: "h", Events: []string{"x"}}, answering(chain.Result{}))
	}
	serve()
	f.run("--text", "hook", "rm", "h").want(t, exitOK, "removed hook h; its 1 instance registers it again unless it is stopped", "")
	serve()
	serve()
	f.run("--text", "hook", "rm", "h").want(t, exitOK, "removed hook h; its 2 instances register it again unless they are stopped", "")
}

func TestAGuardStaysUntilItIsRemoved(t *testing.T) {
	f := newFixture(t)
	w := f.start(process{}, "hook", "add", "guard", "--on", "tool:pre,tool:post", "--inject", "hello", "--on-failure", "deny", "--text")
	w.want("serving hook guard on tool:pre, tool:post; Ctrl-C ends")
	if got := f.run("emit", "tool:pre", "--text"); !strings.Contains(got.stdout, "injects         system: hello\n") {
		t.Errorf("%+v; want an injection", got)
	}
	w.want(`CLOCK tool:pre         -          inject_context  MS  {"timestamp":"TIME"}`)
	w.end()
	w.want("hook guard stays registered and, with nobody to serve it, denies tool:pre, tool:post: `hookctl hook rm guard` removes it")
	if got := f.run("emit", "tool:pre"); got.code != exitDenied {
		t.Errorf("%+v; want a denial, since nobody serves the guard", got)
	}
	f.run("hook", "rm", "guard").want(t, exitOK, `{"id":"guard","removed":true,"instances":0}`, "")
	if got := f.run("emit", "tool:pre"); got.code != exitOK {
		t.Errorf("%+v; want no denial after the removal", got)
	}
}

func TestWhatAHookOfOneLineDoes(t *testing.T) {
	f := newFixture(t)
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
		"asks":           {[]string{"--ask", "Sure?", "--option", "Yes, always", "--option", "No"}, exitAsk, `"approval_prompt":"Sure?","approval_options":["Yes, always","No"]`},
		"modifies":       {[]string{"--modify", `{"b":2,"a":null}`}, exitOK, `"data":{"timestamp":"TIME","b":2}`},
		"runs a command": {[]string{"--env", "WORD", "--", script, "--flag"}, exitDenied, `"reason":"--flag word"`},
		"only listens":   {[]string{"--mode", "observe", "--deny", "never"}, exitOK, `"action":"continue"`},
		"fails":          {[]string{"--", "sh", "-c", "exit 3"}, exitOK, `"failed_open":["h"]`},
		"is in time":     {[]string{"--priority=-5", "--timeout", "10s", "--session", "s1", "--inject", "x"}, exitOK, `"hooks":0`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{t, f.env, f.nc}
			w := f.start(process{}, append([]string{"hook", "add", "h", "--on", "x"}, tt.args...)...)
			w.want(`{"kind":"registered","hook":"h","events":["x"]}`)
			got := f.run("emit", "x", `{"a":1}`)
			if got.code != tt.code || !strings.Contains(steady(got.stdout), tt.text) {
				t.Errorf("exit code %d, stdout %s; want %d, %s", got.code, steady(got.stdout), tt.code, tt.text)
			}
			if code := w.end(); code != exitOK {
				t.Errorf("hook add ended with %d; want %d", code, exitOK)
			}
		})
	}
}

func TestHookAddRefuses(t *testing.T) {
	f := newFixture(t)
	for name, tt := range map[string]struct {
		args []string
		code int
		text string
	}{
		"nothing to do":             {nil, exitLocal, "say what the hook does"},
		"two things to do":          {[]string{"--deny", "x", "--", "true"}, exitLocal, "say what the hook does"},
		"two flags":                 {[]string{"--deny", "x", "--ask", "y"}, exitLocal, "can't be used together"},
		"a patch that is no object": {[]string{"--modify", "1"}, exitLocal, "read --modify"},
		"a command that is missing": {[]string{"--", "no-such-command"}, exitLocal, "no such program in PATH"},
		"an option without ask":     {[]string{"--deny", "x", "--option", "y"}, exitLocal, "belongs to --ask"},
		"a long time-out":           {[]string{"--deny", "x", "--timeout", "1h"}, exitLocal, "timeout_ms"},
		"a bad match":               {[]string{"--deny", "x", "--match", "dta.x"}, exitRefused, "(400)"},
		"nobody there":              {[]string{"--deny", "x", "--prefix", "other"}, exitAway, "no router answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for a router
			f := &fixture{t, f.env, f.nc}
			got := f.run(append([]string{"hook", "add", "h", "--on", "x"}, tt.args...)...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.text) || got.stdout != "" {
				t.Errorf("exit code %d, stderr %q, stdout %q; want %d, %q", got.code, got.stderr, got.stdout, tt.code, tt.text)
			}
		})
	}
	t.Cleanup(func() { // after them all
		if got := (&fixture{t, f.env, f.nc}).runIn(context.Background(), process{}, "registry"); strings.TrimSpace(got.stdout) != "[]" {
			t.Errorf("registry %q; want that nothing was registered", got.stdout)
		}
	})
}
