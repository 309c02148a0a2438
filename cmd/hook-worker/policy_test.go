package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/agent"
)

// rollout is a bus with a router, a key that signs, and hookctl.
type rollout struct {
	*clitest.Fixture
	t        *testing.T
	url, dir string
}

func newRollout(t *testing.T) *rollout {
	t.Helper()
	r := &rollout{clibus.New(t, hookctl.Run), t, "", t.TempDir()}
	r.url = r.Env["NATS_URL"]
	r.key("key")
	return r
}

// key makes a key.
func (r *rollout) key(name string) (file string) {
	r.t.Helper()
	file = filepath.Join(r.dir, name)
	if o := r.Run("audit", "key", "new", file, "--name", "policy"); o.Code != 0 {
		r.t.Fatalf("%+v", o)
	}
	return file
}

// push pushes a worker file, and returns the version.
func (r *rollout) push(text string, more ...string) string {
	r.t.Helper()
	file := filepath.Join(r.dir, "policy.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return r.signs(append([]string{"push", "production", file}, more...)...)
}

// signs runs a command that pushes, and returns the version.
func (r *rollout) signs(args ...string) string {
	r.t.Helper()
	o := r.Run(append(append([]string{"policy"}, args...), "--key", filepath.Join(r.dir, "key"))...)
	var made struct {
		Name   string `json:"name"`
		Serial int    `json:"serial"`
		Digest string `json:"sha256"`
	}
	if err := json.Unmarshal([]byte(o.Stdout), &made); o.Code != 0 || err != nil {
		r.t.Fatalf("policy %s: %+v", args, o)
	}
	return fmt.Sprintf("%s@%d sha256:%s", made.Name, made.Serial, made.Digest)
}

// worker follows the policy until stop is called, or the test ends.
func (r *rollout) worker(cache string, more ...string) (stderr *log, stop func() error) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stderr = &log{}
	done := make(chan error, 1)
	args := append([]string{"--policy", "production", "--policy-key", filepath.Join(r.dir, "key.pub"), "--policy-cache", cache, "--nats-url", r.url}, more...)
	go func() {
		done <- run(ctx, args, process{stdout: &bytes.Buffer{}, stderr: stderr, poll: 50 * time.Millisecond})
	}()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	r.t.Cleanup(func() { _ = stop() })
	says(r.t, stderr, `"msg":"worker follows policy"`)
	return stderr, stop
}

// policies are the versions by which the hooks of an event's chain answered, as the audit log has them,
// and the reason of its denial.
func (r *rollout) policies(a *agent.Agent, event string) (reason string, by map[string]string) {
	r.t.Helper()
	answer, err := a.Emit(r.t.Context(), event, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	by = map[string]string{}
	testkit.Eventually(r.t, "the chain is in the log", func() bool {
		o := r.Run("audit", "show", answer.ChainID)
		var shown struct {
			Hooks []struct {
				Hook, Policy string
			} `json:"hooks"`
		}
		if o.Code != 0 || json.Unmarshal([]byte(o.Stdout), &shown) != nil || len(shown.Hooks) == 0 {
			return false
		}
		for _, h := range shown.Hooks {
			by[h.Hook] = h.Policy
		}
		return true
	})
	return answer.Reason, by
}

// deployPolicy is a policy that denies deploys for a reason, with a test of it.
func deployPolicy(reason string) string {
	return "hooks:\n  - {id: freeze, events: [\"deploy:start\"], on_failure: deny, cel: {rules: [{deny: \"" + reason + "\"}]}}\n" +
		"tests:\n  - {name: nobody deploys, event: \"deploy:start\", expect: {action: deny, reason: \"" + reason + "\"}}\n"
}

func TestAPolicyIsPushedAndRolledBack(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	one := r.push(deployPolicy("one"))
	cache := t.TempDir()
	stderr, stop := r.worker(cache)
	says(t, stderr, `"policy taken over","policy":"`+one)
	a := connect(t, r.url)
	if reason, by := r.policies(a, "deploy:start"); reason != "one" || by["freeze"] != one {
		t.Errorf("%s by %v; want one by %s", reason, by, one)
	}
	first := r.stored()
	two := r.push(deployPolicy("two"))
	says(t, stderr, `"policy taken over","policy":"`+two)
	if reason, by := r.policies(a, "deploy:start"); reason != "two" || by["freeze"] != two {
		t.Errorf("%s by %v; want two by %s", reason, by, two)
	}

	// Whoever can write to the store gains nothing by an old bundle.
	r.store(first)
	says(t, stderr, "it is older than production@2")
	if got := r.status(t); got.Policy != two || got.Refused != one || !strings.Contains(got.Why, "older") {
		t.Errorf("status %+v", got)
	}
	if reason, _ := r.policies(a, "deploy:start"); reason != "two" {
		t.Errorf("after an old bundle it says %s", reason)
	}
	// Nor after the worker started anew, from its disk.
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	stderr, stop = r.worker(cache)
	says(t, stderr, `"policy taken over","policy":"`+two)
	says(t, stderr, "it is older than production@2")

	// A signed rollback is another version.
	back := r.signs("rollback", "production", "--to", "1", "--serial", "3")
	says(t, stderr, `"policy taken over","policy":"`+back)
	if reason, by := r.policies(a, "deploy:start"); reason != "one" || by["freeze"] != back || !strings.HasPrefix(back, "production@3 ") {
		t.Errorf("%s by %v; want one by %s", reason, by, back)
	}
	// A store that was emptied changes nothing.
	js, err := r.NC.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := js.PurgeStream("KV_hooks_policies"); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	stderr, _ = r.worker(cache)
	says(t, stderr, `"policy taken over","policy":"`+back)
	if reason, by := r.policies(a, "deploy:start"); reason != "one" || by["freeze"] != back {
		t.Errorf("%s by %v; want one by %s", reason, by, back)
	}
}

type workerStatus struct{ Policy, Shadow, Refused, Why string }

// status is that of the one worker.
func (r *rollout) status(t *testing.T) workerStatus {
	t.Helper()
	var list []workerStatus
	testkit.Eventually(t, "the worker tells its status", func() bool { // a busy one is late
		o := r.Run("policy", "status", "production", "--wait", "50ms")
		return json.Unmarshal([]byte(o.Stdout), &list) == nil && len(list) == 1
	})
	return list[0]
}

// A worker that waits for a policy says so: its name may be misspelt.
func TestAPolicyThatIsNotStoredIsSaid(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	address := testkit.FreeAddrs(t, 1)[0]
	stderr, _ := r.worker(t.TempDir(), "--http-listen", address)
	says(t, stderr, "no version of the policy is stored yet; waiting for one")
	if code, body := page(t, address, "/readyz"); code != 503 || !strings.Contains(body, "no version of the policy production was taken over yet") {
		t.Errorf("/readyz: %d %s", code, body)
	}
}

func TestAPolicyThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	one := r.push(deployPolicy("one"))
	address := testkit.FreeAddrs(t, 1)[0]
	stderr, _ := r.worker(t.TempDir(), "--http-listen", address)
	says(t, stderr, `"policy taken over","policy":"`+one)
	failed, err := r.NC.SubscribeSync("hooks.event.module.load_failed")
	if err != nil || r.NC.Flush() != nil {
		t.Fatal(err)
	}
	stranger := r.key("stranger")
	good := r.stored()

	file := filepath.Join(r.dir, "policy.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(deployPolicy("evil"))
	if o := r.Run("policy", "push", "production", file, "--key", stranger); o.Code == 0 || !strings.Contains(o.Stderr, "another key signed") {
		t.Errorf("push with another key: %+v", o)
	}
	if o := r.Run("policy", "push", "production", file, "--key", stranger, "--serial", "9"); o.Code != 0 {
		t.Fatalf("%+v", o)
	}
	says(t, stderr, "none of the configured keys signed it")
	if m, err := failed.NextMsgWithContext(testkit.Within(t, testkit.Patience)); err != nil || !strings.Contains(string(m.Data), "none of the configured keys signed it") {
		t.Errorf("the event of a refused policy: %v, %v", m, err)
	}
	testkit.Eventually(t, "the status says why", func() bool {
		o := r.Run("policy", "status", "production", "--wait", "50ms", "--text")
		return strings.Contains(o.Stdout, " refused what is stored:\n  none of the configured keys")
	})
	testkit.Eventually(t, "the metrics show that the policy is not the stored one", func() bool { return currentFile(t, address) == "0" })
	r.store(bytes.Replace(good, []byte(`deny: \"one\"`), []byte(`deny: \"two\"`), 1))
	says(t, stderr, "its files are not those that were signed")
	r.store(good)
	testkit.Eventually(t, "nothing is refused any more", func() bool { return r.status(t) == workerStatus{Policy: one} })
	testkit.Eventually(t, "the metrics show that it is", func() bool { return currentFile(t, address) == "1" })

	write(strings.Replace(deployPolicy("two"), "action: deny, reason: \"two\"", "action: continue", 1))
	if o := r.Run("policy", "push", "production", file, "--key", filepath.Join(r.dir, "key")); o.Code == 0 || !strings.Contains(o.Stderr, "1 of its tests fail") {
		t.Errorf("push of what fails its tests: %+v", o)
	}
	r.push("hooks:\n  - {id: freeze, events: [\"deploy:start\"], exec: {command: [\"true\"]}}\n", "--policy-exec")
	says(t, stderr, `"error":"hook freeze acts in the world (exec): that needs --policy-exec"`)
	testkit.Eventually(t, "the status says so", func() bool { return r.status(t).Why != "" })
	for line := range strings.Lines(r.Run("policy", "status", "production", "--wait", "50ms", "--text").Stdout) {
		if len(line) > 81 {
			t.Errorf("a line is too long: %s", line)
		}
	}
	r.push("hooks:\n  - {id: freeze, events: [\"deploy:start\"], http: {url: \"https://127.0.0.1:1/x\"}}\n", "--policy-exec")
	says(t, stderr, "hook freeze acts in the world (http)")
	r.push("hooks:\n  - id: freeze\n    events: [\"deploy:start\"]\n    rego: {allow_net: [evil.example], policy: \"package hooks\\n\\ndeny contains \\\"x\\\" if http.send({\\\"url\\\": \\\"http://evil.example\\\", \\\"method\\\": \\\"get\\\"})\"}\n", "--policy-exec")
	says(t, stderr, "hook freeze acts in the world (rego)")
	write("nats: {url: \"nats://evil.example\"}\n" + deployPolicy("two"))
	if o := r.Run("policy", "push", "production", file, "--key", filepath.Join(r.dir, "key")); o.Code == 0 || !strings.Contains(o.Stderr, "it has a section nats") {
		t.Errorf("push of a policy that names a NATS server: %+v", o)
	}

	if reason, by := r.policies(connect(t, r.url), "deploy:start"); reason != "one" || by["freeze"] != one {
		t.Errorf("%s by %v; want one by %s", reason, by, one)
	}
	if got := r.status(t); got.Policy != one || !strings.HasPrefix(got.Refused, "production@4 ") {
		t.Errorf("status %+v", got)
	}
}

func TestAPolicyWithCommands(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	version := r.push("hooks:\n  - {id: freeze, events: [\"deploy:start\"], exec: {command: [sh, -c, 'echo \"{\\\"action\\\":\\\"deny\\\",\\\"reason\\\":\\\"ran\\\"}\"']}}\n", "--policy-exec")
	stderr, _ := r.worker(t.TempDir(), "--policy-exec")
	says(t, stderr, `"policy taken over","policy":"`+version)
	if reason, by := r.policies(connect(t, r.url), "deploy:start"); reason != "ran" || by["freeze"] != version {
		t.Errorf("%s by %v; want ran by %s", reason, by, version)
	}
}
