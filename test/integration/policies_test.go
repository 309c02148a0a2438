package integration

import (
	"context"
	"encoding/json"
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

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// follower is a hook-worker that follows a policy.
type follower struct {
	*testkit.Process
	taken chan string // the version that it took over
}

func startFollower(t *testing.T, program, url, key, cache string) *follower {
	t.Helper()
	w := &follower{taken: make(chan string, 64)}
	cmd := exec.Command("/bin/sh", "-c", `exec "$0" "$@" 2>&1`, program, "--policy", "production", "--policy-key", key, "--policy-cache", cache, "--nats-url", url) //nolint:noctx // it is ended by a signal
	w.Process = started(t, cmd, "follows policy", func(line string) {
		var l struct{ Msg, Policy string }
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "policy taken over" {
			w.taken <- l.Policy
		}
	})
	return w
}

// TestPoliciesUnderLoad pushes versions and rolls back while 500 events a second come to two
// workers, and kills one while it changes: every event is answered by the guard of a version
// in force, no call is lost or fails open, and the audit log names the version of each answer.
func TestPoliciesUnderLoad(t *testing.T) {
	t.Parallel()
	testkit.From(t, testkit.CI)
	router, program, hookctl := testkit.Program(t, "hook-router"), testkit.Program(t, "hook-worker"), testkit.Program(t, "hookctl")
	ctx := testkit.Within(t, 150*time.Second)
	r := startRouter(t, router, natstest.StoreDir(t), "127.0.0.1:0", "")
	dir := t.TempDir()
	type pushed struct {
		Serial int    `json:"serial"`
		Digest string `json:"sha256"`
	}
	ctl := func(args ...string) (out pushed) {
		t.Helper()
		cmd := exec.CommandContext(ctx, hookctl, append([]string{"-s", r.url, "--json"}, args...)...)
		text, err := cmd.Output()
		if err != nil || json.Unmarshal(text, &out) != nil {
			t.Fatalf("hookctl %s: %v\n%s", args, err, text)
		}
		return out
	}
	key, file := filepath.Join(dir, "key"), filepath.Join(dir, "policy.yaml")
	ctl("audit", "key", "new", key, "--name", "policy")
	var pushes []string // as the audit log is to have them
	last := ""
	version := func(args ...string) string {
		t.Helper()
		v := ctl(append(append([]string{"policy"}, args...), "--key", key)...)
		now := fmt.Sprintf("production@%d sha256:%s", v.Serial, v.Digest)
		action := "pushed"
		if args[0] == "rollback" {
			action = "rolled_back"
		}
		pushes, last = append(pushes, fmt.Sprintf("%s %s to enforce after %q", action, now, last)), now
		return now
	}
	push := func(n int) string {
		t.Helper()
		text := fmt.Sprintf("hooks:\n  - {id: rule, events: [e], on_failure: deny, timeout_ms: 2000, cel: {rules: [{deny: \"version %d.\"}]}}\ntests:\n  - {name: it denies, event: e, expect: {action: deny}}\n", n)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return version("push", "production", file)
	}
	says := map[string]string{push(1): "version 1."} // what each version answers
	caches := [2]string{t.TempDir(), t.TempDir()}
	workers := [2]*follower{}
	for i := range workers {
		workers[i] = startFollower(t, program, r.url, key+".pub", caches[i])
		take(t, ctx, workers[i].taken)
	}

	var answered, lost, open, failed atomic.Int64
	var mu sync.Mutex
	reasons := map[string]string{} // by the chain
	senders := testkit.Volume(t, 3, 56, 56)
	rate := 10 * senders // a second
	loading, stop := context.WithCancel(ctx)
	began := time.Now()
	var load sync.WaitGroup
	for range senders {
		nc := r.conn(t)
		load.Go(func() {
			tick := time.NewTicker(time.Duration(senders) * time.Second / time.Duration(rate))
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
				case <-loading.Done():
					return
				}
				short, cancel := context.WithTimeout(ctx, 20*time.Second)
				m, err := nc.RequestWithContext(short, "hooks.emit.e", []byte(`{}`))
				cancel()
				if err != nil || code(m) != "" {
					lost.Add(1)
					continue
				}
				answered.Add(1)
				if m.Header.Get("Hook-Failed-Open") != "" || m.Header.Get("Hook-Denied-By") != "rule" {
					open.Add(1)
				}
				var said struct{ Reason string }
				if json.Unmarshal(m.Data, &said) != nil || !strings.HasPrefix(said.Reason, "version ") {
					failed.Add(1) // closed: of a worker that was killed
					continue
				}
				mu.Lock()
				reasons[m.Header.Get("Hook-Chain-Id")] = said.Reason
				mu.Unlock()
			}
		})
	}
	both := func(version, reason string, of ...*follower) {
		t.Helper()
		says[version] = reason
		for _, w := range of {
			if got := take(t, ctx, w.taken); got != version {
				t.Errorf("a worker took %s over; want %s", got, version)
			}
		}
	}
	rounds := testkit.Volume(t, 1, 2, 10)
	for n := range rounds {
		both(push(2*n+2), fmt.Sprintf("version %d.", 2*n+2), workers[:]...)
		before := 2*n + 1
		both(version("rollback", "production"), fmt.Sprintf("version %d.", before), workers[:]...)
		if n < rounds-1 {
			both(push(2*n+3), fmt.Sprintf("version %d.", 2*n+3), workers[:]...)
		}
	}
	if n := failed.Load(); n > 0 {
		t.Errorf("%d calls failed before a worker was killed", n)
	}
	killed := push(2 * (rounds + 1))
	says[killed] = fmt.Sprintf("version %d.", 2*(rounds+1))
	_ = workers[0].End(t, syscall.SIGKILL) // about when it changes
	workers[0] = startFollower(t, program, r.url, key+".pub", caches[0])
	for _, w := range workers {
		testkit.Until(t, ctx, "the last version runs", func() bool {
			select {
			case v := <-w.taken:
				return v == killed
			default:
				return false
			}
		})
	}
	stop()
	load.Wait()
	took := time.Since(began)
	if lost.Load()+open.Load() > 0 {
		t.Errorf("%d events were lost, %d passed without the guard", lost.Load(), open.Load())
	}
	named, recorded := versions(t, ctx, r.url)
	if diff := cmp.Diff(pushes, recorded); diff != "" {
		t.Errorf("pushes in the audit log (-want +got):\n%s", diff)
	}
	for chain, reason := range reasons {
		if v := named[chain]; v == "" || says[v] != reason {
			t.Errorf("chain %s answered %q, and the log has version %q", chain, reason, v)
			break
		}
	}
	t.Logf("%d changes under %.0f events/s: %d answered, %d lost, %d failed open, %d of %d answers name their version; %d calls failed closed at the killed worker",
		3*rounds, float64(answered.Load())/took.Seconds(), answered.Load(), lost.Load(), open.Load(), len(reasons), answered.Load()-failed.Load(), failed.Load())
}

// versions are those that the audit log has of the calls of a hook, by the chain, and the
// pushes that it has.
func versions(t *testing.T, ctx context.Context, url string) (named map[string]string, pushes []string) {
	t.Helper()
	conn, err := natsx.Connect(natsx.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	log, err := query.Open(ctx, conn)
	if err != nil {
		t.Fatal(err)
	}
	named = map[string]string{}
	err = log.Query(ctx, query.Filter{Kinds: []audit.Kind{audit.HookResult}, Hook: "rule"}, func(r query.Record) error {
		named[r.ChainID] = r.Policy
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = log.Query(ctx, query.Filter{Kinds: []audit.Kind{audit.PolicyKind}}, func(r query.Record) error {
		pushes = append(pushes, fmt.Sprintf("%s %s to %s after %q", r.Action, r.Policy, r.Use, r.Was))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return named, pushes
}
