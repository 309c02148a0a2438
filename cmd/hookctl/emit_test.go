package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestEmitWithoutHooksContinues(t *testing.T) {
	f := newFixture(t)
	f.run("emit", "tool:pre", `{"n":9007199254740993}`).want(t, exitOK,
		`{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":0,"result":{"action":"continue","data":{"n":9007199254740993}}}`, "")
	f.run("--text", "emit", "tool:pre").want(t, exitOK, `
continue
hooks     0 called
event     ID
chain     ID`, "")
}

func TestEmitShowsADenial(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "guard", Events: []string{"tool:*"}}, answering(chain.Result{
		Action: chain.Deny, Reason: "no rm\x1b[2J here", UserMessage: "blocked", UserMessageLevel: chain.LevelWarning,
	}))
	f.run("emit", "tool:pre", `{}`).want(t, exitDenied,
		`{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":1,"denied_by":"guard",`+
			`"result":{"action":"deny","reason":"no rm\u001b[2J here","user_message":"blocked","user_message_level":"warning"}}`,
		"denied by guard: no rm[2J here")
	f.run("--text", "emit", "tool:pre").want(t, exitDenied, `
deny       no rm[2J here
denied by  guard
message    warning: blocked
hooks      1 called
event      ID
chain      ID`, "")
}

func TestEmitShowsWhatHooksChanged(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "editor", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(mergePatch(ev.Data, []byte(`{"tool_input":{"command":"ls -a","cwd":"/tmp"},"debug":null}`)))
	})
	args := []string{
		"emit", "tool:pre", `{"debug":true,"tool_input":{"command":"ls"}}`, "--session", "s1",
		"--set", "user.name=Ada", "--set", "n=1e2", "--default", "host=h1",
	}
	f.run(append(args, "--text")...).want(t, exitOK, `
continue
changed   debug removed: true
changed   tool_input.command: "ls" → "ls -a"
changed   tool_input.cwd added: "/tmp"
hooks     1 called
event     ID
chain     ID`, "")
	f.run(args...).want(t, exitOK, `{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":1,"changes":[`+
		`{"op":"remove","path":"/debug","old":true},`+
		`{"op":"replace","path":"/tool_input/command","old":"ls","value":"ls -a"},`+
		`{"op":"add","path":"/tool_input/cwd","value":"/tmp"}],`+
		`"result":{"action":"continue","data":{"host":"h1","session_id":"s1","tool_input":{"command":"ls -a","cwd":"/tmp"},"user":{"name":"Ada"},"n":1e2,"timestamp":"TIME"}}}`, "")
}

func TestEmitShowsInjectionsQuestionsAndFailures(t *testing.T) {
	f := newFixture(t)
	f.hook(chain.Registration{ID: "lint", Events: []string{"tool:post"}}, answering(chain.Result{
		Action: chain.InjectContext, ContextInjection: "2 findings", Ephemeral: true, AppendToLastToolResult: true,
	}))
	f.hook(chain.Registration{ID: "broken", Events: []string{"tool:post"}}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Result{}, errors.New("no disk")
	})
	f.hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, answering(chain.Question("Really?", "Yes", "No")))
	f.run("--text", "emit", "tool:post", "{}").want(t, exitOK, `
inject_context
injects         system: 2 findings (ephemeral, at the last tool result)
failed          broken (let pass)
hooks           2 called
event           ID
chain           ID`, "")
	f.run("--text", "emit", "tool:pre", "{}").want(t, exitAsk, `
ask_user
asks      Really? [Yes | No], after 300s: deny
hooks     1 called
event     ID
chain     ID`, "")
	asked := f.run("emit", "tool:pre", "{}")
	if want := "a person must be asked: Really?\n"; asked.code != exitAsk || asked.stderr != want {
		t.Errorf("exit code %d, stderr %q; want %d, %q", asked.code, asked.stderr, exitAsk, want)
	}
}

func TestEmitReadsInputAndFiles(t *testing.T) {
	f := newFixture(t)
	file := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(file, []byte(" {\"from\": \"file\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `{"event":"x","event_id":"ID","chain_id":"ID","hooks":0,"result":{"action":"continue","data":{"from":"`
	f.run("emit", "x", "@"+file).want(t, exitOK, want+`file"}}}`, "")
	f.with(process{stdin: strings.NewReader(`{"from":"stdin"}`)}, "emit", "x", "-").want(t, exitOK, want+`stdin"}}}`, "")
}

func TestColoursAreForTerminalsOnly(t *testing.T) {
	f := newFixture(t)
	if got := f.with(process{terminal: true}, "emit", "x").stdout; !strings.HasPrefix(got, "\x1b[32mcontinue\x1b[0m") {
		t.Errorf("on a terminal: %q; want a green action", got)
	}
	if got := f.with(process{terminal: true}, "--json", "emit", "x").stdout; !strings.HasPrefix(got, "{\n  \"event\": \"x\",\n") {
		t.Errorf("JSON on a terminal: %q; want several lines", got)
	}
	f.env["NO_COLOR"] = "1"
	if got := f.with(process{terminal: true}, "emit", "x").stdout; !strings.HasPrefix(got, "continue") {
		t.Errorf("with NO_COLOR: %q; want no colour", got)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		args []string
		code int
		text string
	}{
		"no command":             {nil, exitLocal, `hookctl: expected one of "emit", `},
		"an unknown flag":        {[]string{"emit", "x", "--sessions=1"}, exitLocal, "hookctl: unknown flag --sessions"},
		"a bad event name":       {[]string{"emit", "tool pre"}, exitLocal, "event name"},
		"data that is no JSON":   {[]string{"emit", "x", "{"}, exitLocal, `give an object like '{"tool_name":"Bash"}'`},
		"data that is no object": {[]string{"emit", "x", "[1]"}, exitLocal, "must be a JSON object"},
		"a repeated key":         {[]string{"emit", "x", `{"a":1,"a":2}`}, exitLocal, "twice"},
		"a file that is missing": {[]string{"emit", "x", "@" + dir + "/no"}, exitLocal, "no such file"},
		"a set without value":    {[]string{"emit", "x", "--set", "a"}, exitLocal, "KEY=VALUE is needed"},
		"a negative time-out":    {[]string{"emit", "x", "--timeout=-1s"}, exitLocal, "at least 1ms"},
		"a bad prefix":           {[]string{"emit", "x", "--prefix", "a.b"}, exitLocal, "prefix"},
		"creds that are missing": {[]string{"emit", "x", "--creds", dir + "/no"}, exitLocal, "there is no file"},
		"half a certificate":     {[]string{"emit", "x", "--tlscert", dir}, exitLocal, "belong together"},
		"an inbox of one's own":  {[]string{"emit", "x", "--inbox-prefix", "my.box"}, exitLocal, "begin with _INBOX"},
		"too much data":          {[]string{"emit", "x", `{"a":"` + strings.Repeat("x", 600<<10) + `"}`}, exitRefused, "(413)"},
		"too many defaults":      {[]string{"emit", "x", "--default", strings.Repeat("k", 9<<10) + "=1"}, exitLocal, "hookctl: use --default: set default fields: they have 9222 bytes of JSON: at most 8192 are allowed"},
		"nobody behind a prefix": {[]string{"emit", "x", "--prefix", "other"}, exitAway, "no router answers on other.emit.x: start `hook-router`, or check the prefix"},
		"no NATS":                {[]string{"emit", "x", "-s", "nats://user:secret@127.0.0.1:1"}, exitAway, "connect to NATS at nats://***@127.0.0.1:1"},
		"a bad channel":          {[]string{"contributions", "a..b"}, exitLocal, "channel"},
		"a bad pattern":          {[]string{"handlers", "*:pre"}, exitLocal, "event name"},
		"an event of one's own":  {[]string{"events", "my:event"}, exitLocal, "no standard event"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for a router
			f := &fixture{t, f.env, f.nc}
			got := f.run(tt.args...)
			if got.code != tt.code || !strings.Contains(got.stderr, tt.text) || got.stdout != "" {
				t.Errorf("exit code %d, stderr %q, stdout %q; want %d, %q", got.code, got.stderr, got.stdout, tt.code, tt.text)
			}
		})
	}
}

func TestTimeIsOver(t *testing.T) {
	f := newFixture(t)
	release := make(chan struct{})
	f.hook(chain.Registration{ID: "slow", Events: []string{"*"}, OnFailure: chain.FailClosed}, func(context.Context, worker.Event) (worker.Result, error) {
		<-release
		return worker.Result{}, nil
	})
	got := f.run("emit", "x", "--timeout", "300ms")
	close(release)
	if got.code != exitRefused || !strings.Contains(got.stderr, "(504)") {
		t.Errorf("exit code %d, stderr %q; want %d, 504", got.code, got.stderr, exitRefused)
	}
}

func TestAnInterruptionEndsEmit(t *testing.T) {
	f := newFixture(t)
	called, release := make(chan struct{}), make(chan struct{})
	f.hook(chain.Registration{ID: "slow", Events: []string{"*"}}, func(context.Context, worker.Event) (worker.Result, error) {
		close(called)
		<-release
		return worker.Result{}, nil
	})
	b := f.start(process{}, "emit", "x")
	<-called
	if code := b.end(); code != exitLocal {
		t.Errorf("exit code %d; want %d", code, exitLocal)
	}
	close(release)
	b.want("hookctl: interrupted")
}
