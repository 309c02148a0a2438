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

	"github.com/nats-io/nats.go"

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

// The key that signed earlier versions is not trusted any more: nothing that it signed is obeyed,
// neither from the store nor from the disk, whatever its serial.
func TestAKeyThatIsNotTrustedAnyMore(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	next, cache := r.key("next"), t.TempDir()
	kept := filepath.Join(cache, "production.enforce.bundle")
	one := r.push(deployPolicy("one"))
	old := r.stored()
	stderr, stop := r.worker(cache, "--policy-key", next+".pub") // both, while workers are restarted
	says(t, stderr, `"policy taken over","policy":"`+one)
	late := r.push(deployPolicy("late"), "--serial", "9")
	says(t, stderr, `"policy taken over","policy":"`+late)
	stolen := r.stored()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next+".pub", filepath.Join(r.dir, "key.pub")); err != nil { // the only one that is trusted now
		t.Fatal(err)
	}
	const refused = "none of the configured keys signed it"
	stderr, stop = r.worker(cache)
	says(t, stderr, refused)
	if got := r.status(t); got.Policy != "" {
		t.Errorf("it runs %s", got.Policy)
	}
	a := connect(t, r.url)
	if answer, err := a.Emit(t.Context(), "deploy:start", nil); err != nil || !answer.Denied() {
		t.Errorf("without a version: %+v, %v", answer, err)
	}
	if err := os.Rename(next, filepath.Join(r.dir, "key")); err != nil {
		t.Fatal(err)
	}
	two := r.push(deployPolicy("two"), "--serial", "10")
	says(t, stderr, `"policy taken over","policy":"`+two)
	for _, raw := range [][]byte{old, stolen} {
		r.store(raw)
		testkit.Eventually(t, "it is refused", func() bool { return strings.Contains(r.status(t).Why, refused) })
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(kept, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		stderr, stop = r.worker(cache)
		says(t, stderr, refused)
		if got := r.status(t); got.Policy != "" {
			t.Errorf("it runs %s", got.Policy)
		}
	}
}

// The file with the keys is read for each version: a key is replaced while workers run.
func TestKeysAreReplacedWhileAWorkerRuns(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	next := r.key("next")
	one := r.push(deployPolicy("one"))
	stderr, _ := r.worker(t.TempDir())
	says(t, stderr, `"policy taken over","policy":"`+one)
	if err := os.Rename(next+".pub", filepath.Join(r.dir, "key.pub")); err != nil {
		t.Fatal(err)
	}
	r.push(deployPolicy("stolen"))
	says(t, stderr, "none of the configured keys signed it")
	if got := r.status(t); got.Policy != one {
		t.Errorf("it runs %s; want %s", got.Policy, one)
	}
	if err := os.Rename(next, filepath.Join(r.dir, "key")); err != nil {
		t.Fatal(err)
	}
	two := r.push(deployPolicy("two"), "--serial", "9")
	says(t, stderr, `"policy taken over","policy":"`+two)
}

// stored is what is stored to be enforced.
func (r *rollout) stored() []byte {
	r.t.Helper()
	m, err := r.NC.Request("hooks.policy.get", []byte(`{"name":"production"}`), 5*time.Second)
	if err != nil || len(m.Data) == 0 {
		r.t.Fatalf("%s, %v", m.Data, err)
	}
	return m.Data
}

// store puts a bundle in the place of what is stored, as somebody without the key can.
func (r *rollout) store(raw []byte) {
	r.t.Helper()
	now, err := r.NC.Request("hooks.policy.get", []byte(`{"name":"production"}`), 5*time.Second)
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := r.NC.RequestMsg(&nats.Msg{Subject: "hooks.policy.push", Header: nats.Header{"Hook-Revision": now.Header["Hook-Revision"]}, Data: raw}, 5*time.Second)
	if err != nil || m.Header.Get("Nats-Service-Error") != "" {
		r.t.Fatalf("%v, %v", m.Header, err)
	}
}

// A store that was lost and filled again counts its revisions from 1: a worker that knew the old
// one takes over what is pushed nevertheless.
func TestAStoreThatWasMadeAnew(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	one := r.push(deployPolicy("one"))
	first := r.stored()
	two := r.push(deployPolicy("two"))
	second := r.stored()
	js, err := r.NC.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	const bucket = "KV_hooks_policies"
	info, err := js.StreamInfo(bucket)
	if err != nil {
		t.Fatal(err)
	}
	lose := func() {
		if err := js.DeleteStream(bucket); err != nil {
			t.Fatal(err)
		}
	}
	fill := func(raw []byte) {
		if _, err := js.AddStream(&info.Config); err != nil {
			t.Fatal(err)
		}
		r.store(raw) // at revision 1
	}
	lose()
	fill(first)
	stderr, _ := r.worker(t.TempDir())
	says(t, stderr, `"policy taken over","policy":"`+one)
	lose()
	says(t, stderr, `"msg":"policy not asked for`)
	fill(second)
	says(t, stderr, `"policy taken over","policy":"`+two)
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

// A version in shadow that asks less is no version that answers the same.
func TestWhatAVersionInShadowDoesNotAskIsCompared(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	const hook = "  - {id: %s, events: [\"deploy:start\"], on_failure: deny, %scel: {rules: [%s]}}\n"
	policy := func(hooks ...string) string { return "hooks:\n" + strings.Join(hooks, "") }
	same := fmt.Sprintf(hook, "same", "", "{inject: x}")
	one := r.push(policy(same, fmt.Sprintf(hook, "narrowed", "", "{inject: x}"), fmt.Sprintf(hook, "gone", "", "{inject: x}"), fmt.Sprintf(hook, "labels", "", "{labels: [seen]}")))
	stderr, _ := r.worker(t.TempDir())
	says(t, stderr, `"policy taken over","policy":"`+one)
	two := r.push(policy(same, fmt.Sprintf(hook, "narrowed", "match: \"false\", ", "{inject: x}"), fmt.Sprintf(hook, "labels", "", "{when: \"false\", labels: [seen]}")), "--shadow")
	says(t, stderr, `"policy taken over","policy":"`+two)
	r.policies(connect(t, r.url), "deploy:start")
	testkit.Eventually(t, "all hooks are compared", func() bool {
		o := r.Run("policy", "compare", "production")
		return o.Code == 8 && strings.Contains(o.Stdout, `"compared":4,"differ":3`) &&
			strings.Contains(o.Stdout, `"hook":"narrowed","enforced":"inject_context","shadow":"continue"`) &&
			strings.Contains(o.Stdout, `"hook":"gone","enforced":"inject_context","shadow":"continue"`) &&
			strings.Contains(o.Stdout, `"hook":"labels","enforced":"continue, labels seen","shadow":"continue"`)
	})
}

func TestAPolicyInShadow(t *testing.T) {
	t.Parallel()
	r := newRollout(t)
	one := r.push(deployPolicy("one"))
	cache := t.TempDir()
	stderr, stop := r.worker(cache)
	says(t, stderr, `"policy taken over","policy":"`+one)
	const open = "hooks:\n  - {id: freeze, events: [\"deploy:start\"], on_failure: deny, cel: {rules: [{when: \"false\", deny: x}]}}\n"
	two := r.push(open, "--shadow")
	says(t, stderr, `"policy taken over","policy":"`+two)
	a := connect(t, r.url)
	reason, _ := r.policies(a, "deploy:start")
	if reason != "one" {
		t.Errorf("a version in shadow decides: %q", reason)
	}
	testkit.Eventually(t, "both answers are compared", func() bool {
		o := r.Run("policy", "compare", "production")
		return o.Code == 8 && strings.Contains(o.Stdout, `"hook":"freeze","enforced":"deny","shadow":"continue"`) && strings.Contains(o.Stdout, `"policy":"`+two) &&
			strings.Contains(o.Stdout, `"compared":1,"differ":1`)
	})
	if got := r.status(t); got.Policy != one || got.Shadow != two {
		t.Errorf("status %+v", got)
	}
	if err := stop(); err != nil { // both come from the disk again
		t.Fatal(err)
	}
	stderr, _ = r.worker(cache)
	says(t, stderr, `"policy taken over","policy":"`+two)
	three := r.signs("enforce", "production")
	says(t, stderr, `"policy taken over","policy":"`+three)
	if reason, by := r.policies(a, "deploy:start"); reason != "" || by["freeze"] != three || by["freeze-shadow"] != "" {
		t.Errorf("%q by %v; want nothing by %s", reason, by, three)
	}
	if got := r.status(t); got.Policy != three || got.Shadow != "" {
		t.Errorf("status %+v", got)
	}
}
