package hookctl_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// recorded returns a fixture whose log has three chains: two of Bash, the first one denied, and one
// of Read with a secret. called counts the calls of its unsafe hook.
func recorded(t *testing.T) (f *clitest.Fixture, called *atomic.Int64) {
	t.Helper()
	f, called = clibus.New(t, hookctl.Run), new(atomic.Int64)
	f.Hook(chain.Registration{ID: "acts", Events: []string{"tool:pre"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		called.Add(1)
		if strings.Contains(string(ev.Data), "rm") {
			return worker.Deny("no \x1b[31mrm")
		}
		return worker.Continue()
	})
	for _, data := range []string{
		`{"tool_name":"Bash","tool_input":{"command":"rm x"}}`, `{"tool_name":"Bash","tool_input":{"command":"ls"}}`,
		`{"tool_name":"Read","key":"AKIAIOSFODNN7EXAMPLE"}`,
	} {
		if o := f.Run("emit", "tool:pre", data, "--session", "s1"); o.Code != cli.ExitOK && o.Code != cli.ExitDenied {
			t.Fatalf("emit: %+v", o)
		}
	}
	called.Store(0)
	return f, called
}

func TestReplayReportsWhatWouldDiffer(t *testing.T) {
	t.Parallel()
	f, called := recorded(t)
	f.Hook(chain.Registration{ID: "tried", Events: []string{"tool:pre"}, Mode: chain.Shadow, Match: `data.tool_name == "Bash"`}, clitest.Answering(chain.Denial("no shell")))
	f.Run("audit", "replay", "--text", "--wide").Want(t, cli.ExitOK, `
3 chains replayed of 3: 2 the same, 1 would differ
  3  with a hook that was not called and answered as recorded: it is not replay_safe
  1  with masked values: hooks saw the mask where the agent had sent a secret, so the result may differ

what would differ
  1  was continue, would be deny by tried

CHAIN                                 SESSION  EVENT     WAS       WOULD BE       REASON
ID  s1       tool:pre  continue  deny by tried  no shell`, "")
	if n := called.Load(); n != 0 {
		t.Errorf("the hook that is not replay_safe was called %d times", n)
	}
	for args, code := range map[string]int{
		"--fail-on-diff":                          policy.ExitDiffers,
		"--fail-on-diff --limit 1":                cli.ExitOK, // also denied when recorded, by another hook
		"--fail-on-diff --no-as-if-enforced":      cli.ExitOK,
		"--fail-on-diff --session other":          cli.ExitLocal,
		"--session other":                         cli.ExitOK,
		"--parallel 0":                            cli.ExitLocal,
		"--since tomorrow":                        cli.ExitLocal,
		"--with-recorded":                         cli.ExitLocal,
		"--export /no/such/file":                  cli.ExitLocal,
		"--worker x.yaml --hook-worker /no/such":  cli.ExitLocal,
		"--event tool:* --since 1h --rate 100000": cli.ExitOK,
	} {
		if o := f.Run(append([]string{"audit", "replay"}, strings.Fields(args)...)...); o.Code != code {
			t.Errorf("%s: exit code %d; want %d: %s%s", args, o.Code, code, o.Stdout, o.Stderr)
		}
	}
}

func TestReplayForPrograms(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	f.Hook(chain.Registration{ID: "tried", Events: []string{"tool:pre"}, Mode: chain.Shadow, Priority: -1}, clitest.Answering(chain.Question("May I?")))
	o := f.Run("audit", "replay", "--limit", "2")
	f.Hook(chain.Registration{ID: "new", Events: []string{"tool:pre"}, Priority: -2}, clitest.Answering(chain.Result{}))
	refused := f.Run("audit", "replay", "--limit", "1")
	const ask = `"hops":[{"id":"tried","action":"ask_user"},{"id":"acts","action":"continue","recorded":true}]}`
	steadyTimes(o).Want(t, cli.ExitOK, `
{"kind":"difference","chain_id":"ID","session_id":"s1","event":"tool:pre","event_id":"ID","time":"TIME","differs":"action","was":{"action":"continue"},"would":{"action":"ask_user","by":"tried"},`+ask+`
{"kind":"summary","chains":2,"replayed":2,"same":1,"differ":1,"as_recorded":2,"assumed":0,"masked":0,"failed":0,"asked":1,"refused":0,"refusals":[],"changes":[{"count":1,"differs":"action","was":{"action":"continue"},"would":{"action":"ask_user","by":"tried"},"example":"ID"}]}`, "")
	const reason = `"reason":"not replayable: new is not replay_safe and was not in the recorded chain"`
	steadyTimes(refused).Want(t, cli.ExitOK, `
{"kind":"refused","chain_id":"ID","session_id":"s1","event":"tool:pre","event_id":"ID","time":"TIME",`+reason+`}
{"kind":"summary","chains":1,"replayed":0,"same":0,"differ":0,"as_recorded":0,"assumed":0,"masked":0,"failed":0,"asked":0,"refused":1,"refusals":[{"count":1,`+reason+`,"example":"ID"}],"changes":[]}`, "")
}

// steadyTimes also replaces times without a fraction.
func steadyTimes(o clitest.Outcome) clitest.Outcome {
	for line := range strings.Lines(o.Stdout) {
		var l struct {
			Time string `json:"time"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Time != "" {
			o.Stdout = strings.ReplaceAll(o.Stdout, l.Time, "TIME")
		}
	}
	return o
}

func TestReplayShowsNothingThatActsOnTheTerminal(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	file := filepath.Join(t.TempDir(), "worker.yaml")
	text := "hooks: [{id: h, events: [\"tool:pre\"], cel: {rules: [{deny: \"odd \\e[31m text\"}]}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := f.Run("audit", "replay", "--text", "--wide", "--worker", file)
	if o.Code != cli.ExitOK || strings.Contains(o.Stdout+o.Stderr, "\x1b") || !strings.Contains(o.Stdout, "odd [31m text") {
		t.Errorf("%+v", o)
	}
	if err := os.WriteFile(file, []byte("hooks: []\x1b[31m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := f.Run("audit", "replay", "--text", "--wide", "--worker", file); o.Code != cli.ExitLocal || strings.Contains(o.Stderr, "\x1b") {
		t.Errorf("a file that is wrong: %+v", o)
	}
}

func TestReplayOfAWorkerFile(t *testing.T) {
	t.Parallel()
	f, called := recorded(t)
	file := filepath.Join(t.TempDir(), "worker.yaml")
	text := "hooks:\n  - id: no-shell\n    events: [tool:pre]\n    on_failure: continue\n    cel: {rules: [{when: \"data.tool_name == 'Bash' && session_id == 's1'\", deny: \"no <shell>\"}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct{ args, want string }{
		"alone": {"", `
3 chains replayed of 3: 2 the same, 1 would differ
  1  with masked values: hooks saw the mask where the agent had sent a secret, so the result may differ

what would differ
  1  was continue, would be deny by no-shell

CHAIN                                 SESSION  EVENT     WAS       WOULD BE          REASON
ID  s1       tool:pre  continue  deny by no-shell  no <shell>`},
		"beside the recorded hooks": {"--with-recorded --limit 2 --show 0", `
2 chains replayed of 2: 1 the same, 1 would differ
  2  with a hook that was not called and answered as recorded: it is not replay_safe

what would differ
  1  was continue, would be deny by no-shell`},
	} {
		t.Run(sentence, func(t *testing.T) {
			f.Run(append([]string{"audit", "replay", "--text", "--wide", "--worker", file}, strings.Fields(c.args)...)...).Want(t, cli.ExitOK, c.want, "")
		})
	}
	if n := called.Load(); n != 0 {
		t.Errorf("the registered hook was called %d times", n)
	}
	t.Run("that is wrong", func(t *testing.T) {
		if err := os.WriteFile(file, []byte("hooks: []\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o := f.Run("audit", "replay", "--worker", file)
		if o.Code != cli.ExitLocal || !strings.Contains(o.Stderr, "the file has no hooks") || !strings.Contains(o.Stderr, "worker.yaml: 1 error") {
			t.Errorf("%+v", o)
		}
	})
	t.Run("on an export, without NATS", func(t *testing.T) {
		export := filepath.Join(t.TempDir(), "log.jsonl")
		if o := f.Run("audit", "export", export, "--wait", "10ms"); o.Code > cli.ExitLocal { // this router signs no checkpoint
			t.Fatalf("%+v", o)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := f.Run("-s", "nats://127.0.0.1:1", "audit", "replay", "--text", "--wide", "--export", export, "--worker", file, "--fail-on-diff")
		if o.Code != policy.ExitDiffers || !strings.HasPrefix(o.Stdout, "3 chains replayed of 3: 2 the same, 1 would differ\n") {
			t.Errorf("%+v", o)
		}
		f.Run("-s", "nats://127.0.0.1:1", "test", "--text", "--events", export, file).Want(t, cli.ExitOK, strings.NewReplacer("LOG", export, "FILE", file).Replace(`
LOG#1  tool:pre  s1  deny by no-shell: no <shell>
        - no-shell: deny: no <shell> (FILE:5, rules[0])
LOG#2  tool:pre  s1  deny by no-shell: no <shell>
        - no-shell: deny: no <shell> (FILE:5, rules[0])
LOG#3  tool:pre  s1  continue
        - no-shell: continue
3 events, 0 failed`), "")
	})
}

func TestReplayWithoutData(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{Audit: auditlog.Options{View: recorder.View{Data: recorder.Digest}}})
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"NATS_URL": s.ClientURL()}, NC: natstest.Conn(t, s)}
	f.Run("emit", "tool:pre", "{}")
	f.Run("audit", "replay", "--text", "--wide").Want(t, cli.ExitOK, `
0 chains replayed of 1: 0 the same, 0 would differ
1 chain refused
  1  digest only: the log does not hold its data (the router ran with --audit-data=digest), such as ID`, "")
	if o := f.Run("audit", "replay", "--fail-on-diff"); o.Code != cli.ExitLocal || !strings.Contains(o.Stderr, "no chain was replayed") {
		t.Errorf("%+v", o)
	}
}

func TestReplaySaysHowFarItIs(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	held, release := make(chan struct{}, 1), make(chan struct{})
	f.Hook(chain.Registration{ID: "slow", Events: []string{"tool:pre"}, Mode: chain.Shadow, Priority: -1}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		held <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return worker.Continue()
	})
	b := f.Start(cli.Process{}, "audit", "replay", "--text", "--wide", "--limit", "1", "--progress", "1ms")
	<-held
	if diff := cmp.Diff("hookctl: 0 chains so far: 0 replayed, 0 would differ, 0 refused", b.Line()); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	close(release)
	for line := b.Line(); !strings.HasPrefix(line, "1 chain replayed of 1"); line = b.Line() {
		if !strings.HasPrefix(line, "hookctl: ") {
			t.Fatalf("line %q", line)
		}
	}
	if code := <-b.Code; code != cli.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestAReplayEndsWithTheConnection(t *testing.T) {
	t.Parallel()
	f, _ := recorded(t)
	proxy, cut := through(t, f.Env["NATS_URL"])
	f.Hook(chain.Registration{ID: "slow", Events: []string{"tool:pre"}, Mode: chain.Shadow, Priority: -1, TimeoutMS: 1000}, func(ctx context.Context, _ worker.Event) (worker.Result, error) {
		cut()
		<-ctx.Done()
		return worker.Continue()
	})
	f.Env["NATS_URL"] = proxy
	o := f.Run("audit", "replay")
	if o.Code != cli.ExitDisconnected || !strings.Contains(o.Stderr, "the connection to NATS was lost: what hooks would have said is not known") {
		t.Errorf("%+v", o)
	}
}

// through returns a NATS URL whose connections can be cut for good.
func through(t *testing.T, url string) (proxy string, cut func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // guards open
	var open []net.Conn
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "nats://"))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			open = append(open, in, out)
			mu.Unlock()
			wg.Go(func() { _, _ = io.Copy(in, out) })
			wg.Go(func() { _, _ = io.Copy(out, in) })
		}
	})
	cut = func() {
		_ = l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	}
	t.Cleanup(func() {
		cut()
		wg.Wait()
	})
	return "nats://" + l.Addr().String(), cut
}
