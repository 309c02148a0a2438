package hookctl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestEmitWithoutHooksContinues(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Run("emit", "tool:pre", `{"n":9007199254740993}`).Want(t, cli.ExitOK,
		`{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":0,"result":{"action":"continue","data":{"n":9007199254740993}}}`, "")
	f.Run("--text", "emit", "tool:pre").Want(t, cli.ExitOK, `
continue
hooks     0 called
event     ID
chain     ID`, "")
}

func TestEmitShowsADenial(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "guard", Events: []string{"tool:*"}}, clitest.Answering(chain.Result{
		Action: chain.Deny, Reason: "no rm\x1b[2J here", UserMessage: "blocked", UserMessageLevel: chain.LevelWarning,
	}))
	f.Run("emit", "tool:pre", `{}`).Want(t, cli.ExitDenied,
		`{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":1,"denied_by":"guard",`+
			`"result":{"action":"deny","reason":"no rm\u001b[2J here","user_message":"blocked","user_message_level":"warning"}}`,
		"denied by guard: no rm[2J here")
	f.Run("--text", "emit", "tool:pre").Want(t, cli.ExitDenied, `
deny       no rm[2J here
denied by  guard
message    warning: blocked
hooks      1 called
event      ID
chain      ID`, "")
}

func TestEmitShowsWhatHooksChanged(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "editor", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(jsonedit.Merge(ev.Data, []byte(`{"tool_input":{"command":"ls -a","cwd":"/tmp"},"debug":null}`)))
	})
	args := []string{
		"emit", "tool:pre", `{"debug":true,"tool_input":{"command":"ls"}}`, "--session", "s1",
		"--set", "user.name=Ada", "--set", "n=1e2", "--default", "host=h1",
	}
	f.Run(append(args, "--text")...).Want(t, cli.ExitOK, `
continue
changed   debug removed: true
changed   tool_input.command: "ls" → "ls -a"
changed   tool_input.cwd added: "/tmp"
hooks     1 called
event     ID
chain     ID`, "")
	f.Run(args...).Want(t, cli.ExitOK, `{"event":"tool:pre","event_id":"ID","chain_id":"ID","hooks":1,"changes":[`+
		`{"op":"remove","path":"/debug","old":true},`+
		`{"op":"replace","path":"/tool_input/command","old":"ls","value":"ls -a"},`+
		`{"op":"add","path":"/tool_input/cwd","value":"/tmp"}],`+
		`"result":{"action":"continue","data":{"host":"h1","session_id":"s1","tool_input":{"command":"ls -a","cwd":"/tmp"},"user":{"name":"Ada"},"n":1e2,"timestamp":"TIME"}}}`, "")
}

func TestEmitShowsInjectionsQuestionsAndFailures(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "lint", Events: []string{"tool:post"}}, clitest.Answering(chain.Result{
		Action: chain.InjectContext, ContextInjection: "2 findings", Ephemeral: true, AppendToLastToolResult: true,
	}))
	f.Hook(chain.Registration{ID: "broken", Events: []string{"tool:post"}}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Result{}, errors.New("no disk")
	})
	f.Hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, clitest.Answering(chain.Question("Really?", "Yes", "No")))
	f.Run("--text", "emit", "tool:post", "{}").Want(t, cli.ExitOK, `
inject_context
injects         system: 2 findings (ephemeral, at the last tool result)
failed          broken (let pass)
hooks           2 called
event           ID
chain           ID`, "")
	f.Run("--text", "emit", "tool:pre", "{}").Want(t, cli.ExitAsk, `
ask_user
asks      Really? [Yes | No], after 300s: deny
hooks     1 called
event     ID
chain     ID`, "")
	asked := f.Run("emit", "tool:pre", "{}")
	if want := "a person must be asked: Really?\n"; asked.Code != cli.ExitAsk || asked.Stderr != want {
		t.Errorf("exit code %d, stderr %q; want %d, %q", asked.Code, asked.Stderr, cli.ExitAsk, want)
	}
}

func TestEmitReadsInputAndFiles(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	file := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(file, []byte(" {\"from\": \"file\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `{"event":"x","event_id":"ID","chain_id":"ID","hooks":0,"result":{"action":"continue","data":{"from":"`
	f.Run("emit", "x", "@"+file).Want(t, cli.ExitOK, want+`file"}}}`, "")
	f.With(cli.Process{Stdin: strings.NewReader(`{"from":"stdin"}`)}, "emit", "x", "-").Want(t, cli.ExitOK, want+`stdin"}}}`, "")
}

func TestColoursAreForTerminalsOnly(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	if got := f.With(cli.Process{Terminal: true}, "--text", "emit", "x").Stdout; !strings.HasPrefix(got, "\x1b[32mcontinue\x1b[0m") {
		t.Errorf("on a terminal: %q; want a green action", got)
	}
	if got := f.With(cli.Process{Terminal: true}, "--json", "emit", "x").Stdout; !strings.HasPrefix(got, "{\n  \"event\": \"x\",\n") {
		t.Errorf("JSON on a terminal: %q; want several lines", got)
	}
	f.Env["NO_COLOR"] = "1"
	if got := f.With(cli.Process{Terminal: true}, "--text", "emit", "x").Stdout; !strings.HasPrefix(got, "continue") {
		t.Errorf("with NO_COLOR: %q; want no colour", got)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		args []string
		code int
		text string
	}{
		"an unknown flag":        {[]string{"emit", "x", "--sessions=1"}, cli.ExitLocal, "hookctl: unknown flag --sessions"},
		"a bad event name":       {[]string{"emit", "tool pre"}, cli.ExitLocal, "event name"},
		"data that is no JSON":   {[]string{"emit", "x", "{"}, cli.ExitLocal, `give an object like '{"tool_name":"Bash"}'`},
		"data that is no object": {[]string{"emit", "x", "[1]"}, cli.ExitLocal, "must be a JSON object"},
		"a repeated key":         {[]string{"emit", "x", `{"a":1,"a":2}`}, cli.ExitLocal, "twice"},
		"a file that is missing": {[]string{"emit", "x", "@" + dir + "/no"}, cli.ExitLocal, "no such file"},
		"a set without value":    {[]string{"emit", "x", "--set", "a"}, cli.ExitLocal, "KEY=VALUE is needed"},
		"a negative time-out":    {[]string{"emit", "x", "--timeout=-1s"}, cli.ExitLocal, "at least 1ms"},
		"a bad prefix":           {[]string{"emit", "x", "--prefix", "a.b"}, cli.ExitLocal, "prefix"},
		"creds that are missing": {[]string{"emit", "x", "--creds", dir + "/no"}, cli.ExitLocal, "there is no file"},
		"half a certificate":     {[]string{"emit", "x", "--tlscert", dir}, cli.ExitLocal, "belong together"},
		"an inbox of one's own":  {[]string{"emit", "x", "--inbox-prefix", "my.box"}, cli.ExitLocal, "begin with _INBOX"},
		"too much data":          {[]string{"emit", "x", `{"a":"` + strings.Repeat("x", 600<<10) + `"}`}, cli.ExitRefused, "(413)"},
		"too many defaults":      {[]string{"emit", "x", "--default", strings.Repeat("k", 9<<10) + "=1"}, cli.ExitLocal, "hookctl: --default: set default fields: they have 9222 bytes of JSON: at most 8192 are allowed"},
		"nobody behind a prefix": {[]string{"emit", "x", "--prefix", "other"}, cli.ExitDisconnected, "no router answers on other.emit.x: start `hook-router`, see on its /readyz why it is not ready, or check the prefix"},
		"no NATS":                {[]string{"emit", "x", "-s", "nats://user:secret@127.0.0.1:1"}, cli.ExitDisconnected, "connect to NATS at nats://***@127.0.0.1:1"},
		"a bad channel":          {[]string{"contributions", "a..b"}, cli.ExitLocal, "channel"},
		"a bad pattern":          {[]string{"handlers", "*:pre"}, cli.ExitLocal, "event name"},
		"an event of one's own":  {[]string{"events", "my:event"}, cli.ExitLocal, "not a standard event"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for a router
			f := &clitest.Fixture{T: t, Hookctl: f.Hookctl, Env: f.Env, NC: f.NC}
			got := f.Run(tt.args...)
			if got.Code != tt.code || !strings.Contains(got.Stderr, tt.text) || got.Stdout != "" {
				t.Errorf("exit code %d, stderr %q, stdout %q; want %d, %q", got.Code, got.Stderr, got.Stdout, tt.code, tt.text)
			}
		})
	}
}

func TestTimeIsOver(t *testing.T) { // not parallel: the router's answer has little time to arrive
	f := clibus.New(t, hookctl.Run)
	release := make(chan struct{})
	f.Hook(chain.Registration{ID: "slow", Events: []string{"*"}, OnFailure: chain.FailClosed}, func(context.Context, worker.Event) (worker.Result, error) {
		<-release
		return worker.Result{}, nil
	})
	got := f.Run("emit", "x", "--timeout", "300ms")
	close(release)
	if got.Code != cli.ExitRefused || !strings.Contains(got.Stderr, "(504)") {
		t.Errorf("exit code %d, stderr %q; want %d, 504", got.Code, got.Stderr, cli.ExitRefused)
	}
}

func TestAnInterruptionEndsEmit(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	called, release := make(chan struct{}), make(chan struct{})
	f.Hook(chain.Registration{ID: "slow", Events: []string{"*"}}, func(context.Context, worker.Event) (worker.Result, error) {
		close(called)
		<-release
		return worker.Result{}, nil
	})
	b := f.Start(cli.Process{}, "emit", "x")
	<-called
	if code := b.End(); code != cli.ExitLocal {
		t.Errorf("exit code %d; want %d", code, cli.ExitLocal)
	}
	close(release)
	b.Want("hookctl: interrupted")
}
