package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// reloading is a hook-worker whose file changes.
type reloading struct {
	*testkit.Process
	lines chan string // what it says of reloading
}

func startReloading(t *testing.T, program, url, file string) *reloading {
	t.Helper()
	w := &reloading{lines: make(chan string, 64)}
	cmd := exec.Command("/bin/sh", "-c", `exec "$0" "$@" 2>&1`, program, "--config", file, "--nats-url", url) //nolint:noctx // it is ended by a signal
	w.Process = started(t, cmd, " answers for ", func(line string) {
		if strings.Contains(line, `"msg":"reloaded"`) || strings.Contains(line, "reload failed") {
			w.lines <- line
		}
	})
	return w
}

// replace puts a file in the place of another.
func replace(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file+"~", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+"~", file); err != nil {
		t.Fatal(err)
	}
}

// generation is a file of hooks of which each is changed in another way: one in what it
// answers; one in its registration and in what it can answer, so that the one with the
// other fails; and one is there every second time.
func generation(n int) string {
	member := [...]string{"a", "b"}[n%2]
	text := fmt.Sprintf(`
hooks:
  - id: picky
    events: [e]
    priority: %d
    match: has(data.%s)
    cel: {rules: [{when: "data.%s == 0", deny: never}]}
  - id: rule
    events: [e]
    priority: 10000
    cel: {rules: [{deny: "generation %d."}]}
  - id: same
    events: [e]
    priority: -1
    cel: {rules: [{when: "false", deny: never}]}
`, n, member, member, n)
	if n%2 == 1 {
		text += "  - {id: guest, events: [e], cel: {rules: [{when: 'false', deny: never}]}}\n"
	}
	return text
}

// The file of a hook-worker changes while more than 500 events a second come: each is answered
// by every hook that it has to be, and none by a rule that was replaced before.
func TestAHookWorkersFileChangesUnderLoad(t *testing.T) {
	t.Parallel()
	testkit.From(t, testkit.CI)
	router, program := testkit.Program(t, "hook-router"), testkit.Program(t, "hook-worker")
	ctx := testkit.Within(t, 120*time.Second)
	r := startRouter(t, router, natstest.StoreDir(t), "127.0.0.1:0", "")
	file := filepath.Join(t.TempDir(), "worker.yaml")
	replace(t, file, generation(0))
	w := startReloading(t, program, r.url, file)

	var current, answered atomic.Int64 // the generation that is in force
	senders := testkit.Volume(t, 3, 60, 60)
	rate := 11 * senders // a second
	loading, stop := context.WithCancel(ctx)
	began := time.Now()
	var load sync.WaitGroup
	for i := range senders {
		nc := r.conn(t)
		load.Go(func() {
			tick := time.NewTicker(time.Duration(senders) * time.Second / time.Duration(rate))
			defer tick.Stop()
			for n := 0; ; n++ {
				select {
				case <-tick.C:
				case <-loading.Done():
					return
				}
				least := current.Load()
				short, cancel := context.WithTimeout(ctx, 20*time.Second)
				m, err := nc.RequestWithContext(short, "hooks.emit.e", []byte([...]string{`{"a":1}`, `{"b":1}`}[(i+n)%2]))
				cancel()
				if err != nil {
					t.Errorf("an event was not answered: %v", err)
					return
				}
				var by int64
				_, reason, _ := strings.Cut(string(m.Data), "generation ")
				_, err = fmt.Sscanf(reason, "%d.", &by)
				if err != nil || code(m) != "" || m.Header.Get("Hook-Failed-Open") != "" || m.Header.Get("Hook-Denied-By") != "rule" || by < least {
					t.Errorf("with generation %d in force: %v %s", least, m.Header, m.Data)
				}
				answered.Add(1)
			}
		})
	}
	_ = w.Cmd.Process.Signal(syscall.SIGHUP)
	if line := take(t, ctx, w.lines); !strings.Contains(line, "nothing changed") {
		t.Errorf("of a file that is the same it says %s", line)
	}
	reloads, refused := testkit.Volume(t, 2, 2, 20), 0
	for n := 1; n <= reloads; n++ {
		replace(t, file, generation(n))
		if line := take(t, ctx, w.lines); !strings.Contains(line, "2 changed, 1 ") {
			t.Errorf("it says %s", line)
		}
		current.Store(int64(n))
		if n > 1 && testkit.CurrentTier(t) == testkit.Smoke {
			continue
		}
		replace(t, file, generation(n)+"  - nonsense\n")
		if line := take(t, ctx, w.lines); !strings.Contains(line, "reload failed") || !strings.Contains(line, file+":") {
			t.Errorf("of a bad file it says %s", line)
		}
		refused++
	}
	stop()
	load.Wait()
	t.Logf("%d reloads, %d files that were refused, %d events answered, %.0f a second", reloads, refused, answered.Load(), float64(answered.Load())/time.Since(began).Seconds())
	if err := w.End(t, syscall.SIGTERM); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

const slowHooks = `
hooks:
  - {id: guard, events: [guarded], on_failure: deny, timeout_ms: 2000, exec: {command: [sleep, '0.05'], concurrency: 64}}
  - {id: open, events: [open], timeout_ms: 2000, exec: {command: [sleep, '0.05'], concurrency: 64}}
`

// One of three replicas of a hook-worker is killed under load: a caller sees one failure at
// most, of the call that the killed replica had; it means what on_failure says, and the next
// call goes to another replica.
func TestAHookWorkersReplicaIsKilled(t *testing.T) {
	t.Parallel()
	testkit.From(t, testkit.CI)
	router, program := testkit.Program(t, "hook-router"), testkit.Program(t, "hook-worker")
	ctx := testkit.Within(t, 120*time.Second)
	r := startRouter(t, router, natstest.StoreDir(t), "127.0.0.1:0", "")
	file := filepath.Join(t.TempDir(), "worker.yaml")
	replace(t, file, slowHooks)
	var replicas []*reloading
	// A kill may fall between the calls of a replica, so the first that hits one counts.
	rounds, more, hits := testkit.Volume(t, 1, 1, 10), testkit.Volume(t, 2, 20, 20), 0
	for round := 0; round < rounds || hits == 0 && round < rounds+5; round++ {
		for len(replicas) < 3 {
			replicas = append(replicas, startReloading(t, program, r.url, file))
		}
		const callers = 12
		var calls, failed atomic.Int64
		killed := make(chan struct{})
		var all sync.WaitGroup
		for i := range callers {
			nc := r.conn(t)
			all.Go(func() {
				event, policy := "guarded", chain.FailClosed
				if i%2 == 1 {
					event, policy = "open", chain.FailOpen
				}
				failures, left := 0, more
				for left > 0 {
					m, err := nc.RequestWithContext(ctx, "hooks.emit."+event, []byte(`{}`))
					if err != nil {
						t.Errorf("a call was not answered: %v", err)
						return
					}
					calls.Add(1)
					if m.Header.Get("Hook-Denied-By") != "" || m.Header.Get("Hook-Failed-Open") != "" || m.Header.Get("Hook-Count") != "1" {
						failures++
						heldTo(t, policy, m)
					}
					select {
					case <-killed:
						left--
					default:
					}
				}
				if failures > 1 {
					t.Errorf("a caller of %s saw %d failures", event, failures)
				}
				failed.Add(int64(failures))
			})
		}
		testkit.Until(t, ctx, "the load runs", func() bool { return calls.Load() > int64(more*callers) })
		_ = replicas[0].End(t, syscall.SIGKILL)
		close(killed)
		all.Wait()
		t.Logf("round %d: %d calls, %d failed", round, calls.Load(), failed.Load())
		if failed.Load() > 0 {
			hits++
		}
		replicas = replicas[1:]
	}
	if hits == 0 {
		t.Error("no kill hit a call")
	}
}

// heldTo checks that a failure meant what the policy says.
func heldTo(t *testing.T, policy chain.Policy, m *nats.Msg) {
	t.Helper()
	if policy == chain.FailOpen {
		if m.Header.Get("Hook-Failed-Open") != "open" || m.Header.Get("Hook-Denied-By") != "" {
			t.Errorf("it did not fail open: %v %s", m.Header, m.Data)
		}
		return
	}
	if m.Header.Get("Hook-Denied-By") != "guard" || !strings.Contains(string(m.Data), "(timeout)") && !strings.Contains(string(m.Data), "(no_responder)") {
		t.Errorf("not denied: %v %s", m.Header, m.Data)
	}
}
