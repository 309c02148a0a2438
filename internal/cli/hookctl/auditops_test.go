package hookctl_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/auditops"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// ops is a bus for an operator.
type ops struct {
	*clitest.Fixture
	server *embedded.Server
	js     jetstream.JetStream
	dir    string
	key    *signer.Key // of the routers
}

func newOps(t *testing.T) *ops {
	t.Helper()
	s := natstest.Listening(t)
	nc := natstest.Conn(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := &clitest.Fixture{T: t, Hookctl: opsctl, Env: map[string]string{"HOOKCTL_FORMAT": "json", "NATS_URL": s.ClientURL(), "HOME": dir}, NC: nc}
	o := &ops{Fixture: f, server: s, js: js, dir: dir}
	o.want(0, "audit", "key", "new", o.file("audit.key"))
	if o.key, err = signer.LoadKey(o.file("audit.key")); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *ops) file(name string) string { return filepath.Join(o.dir, name) }

// router starts a router with or without the key.
func (o *ops) router(key *signer.Key) (stop func()) {
	o.T.Helper()
	_, stop = routertest.Start(o.T, o.server, router.Options{Audit: auditlog.Options{Key: key}})
	return stop
}

// want runs hookctl and checks its exit code.
func (o *ops) want(code int, args ...string) clitest.Outcome {
	o.T.Helper()
	return o.wantWith(cli.Process{}, code, args...)
}

func (o *ops) wantWith(p cli.Process, code int, args ...string) clitest.Outcome {
	o.T.Helper()
	out := o.With(p, args...)
	if out.Code != code {
		o.T.Fatalf("hookctl %s: exit code %d; want %d\n%s%s", strings.Join(args, " "), out.Code, code, out.Stdout, out.Stderr)
	}
	return out
}

// refused runs hookctl, which must fail for the given reason.
func (o *ops) refused(why string, args ...string) {
	o.T.Helper()
	if out := o.want(cli.ExitLocal, args...); !strings.Contains(out.Stderr, why) {
		o.T.Errorf("hookctl %s says %q; want %q in it", strings.Join(args, " "), out.Stderr, why)
	}
}

func (o *ops) emit(session string) {
	o.T.Helper()
	o.want(0, "emit", "tool:pre", `{"tool_name":"bash"}`, "--session", session)
}

// document runs hookctl with JSON output.
func document[T any](o *ops, code int, args ...string) (v T) {
	o.T.Helper()
	out := o.want(code, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out.Stdout), &v); err != nil {
		o.T.Fatalf("read %q: %v", out.Stdout, err)
	}
	return v
}

// change changes the settings of a stream.
func (o *ops) change(name string, change func(c *jetstream.StreamConfig)) {
	o.T.Helper()
	s, err := o.js.Stream(o.T.Context(), name)
	if err != nil {
		o.T.Fatal(err)
	}
	c := s.CachedInfo().Config
	change(&c)
	if _, err := o.js.UpdateStream(o.T.Context(), c); err != nil {
		o.T.Fatal(err)
	}
}

func (o *ops) streams() (names []string) {
	o.T.Helper()
	list := o.js.StreamNames(o.T.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestAuditBootstrap(t *testing.T) {
	t.Parallel()
	type result struct {
		OK    bool
		Needs []auditops.Needed
	}
	states := func(r result) map[string]string {
		m := map[string]string{}
		for _, n := range r.Needs {
			m[n.Name] = n.State
		}
		return m
	}
	all := func(state string) map[string]string {
		return map[string]string{
			"hooks_registry": state, "hooks_sessions": state, "hooks_approvals": state, "hooks_salts": state, "hooks_index": state, "hooks_policies": state,
			"HOOKS_AUDIT": state, "HOOKS_CHECKPOINTS": state,
		}
	}
	want := func(t *testing.T, got result, want map[string]string) {
		t.Helper()
		if diff := cmp.Diff(want, states(got)); diff != "" {
			t.Errorf("states (-want +got):\n%s\n%+v", diff, got)
		}
	}
	t.Run("it makes all that a router needs, and nothing else", func(t *testing.T) {
		o := newOps(t)
		want(t, document[result](o, 1, "audit", "bootstrap", "--check"), all("missing"))
		if got := o.streams(); len(got) > 0 {
			t.Fatalf("--check made %v", got)
		}
		want(t, document[result](o, 0, "audit", "bootstrap", "--replicas", "1"), all("made"))
		want(t, document[result](o, 0, "audit", "bootstrap"), all("ok"))
		made := o.streams()
		o.router(o.key)
		if diff := cmp.Diff(made, o.streams()); diff != "" {
			t.Errorf("a router makes more (-bootstrap +router):\n%s", diff)
		}
	})
	t.Run("what a router made is as it must be", func(t *testing.T) {
		o := newOps(t)
		o.router(o.key)
		want(t, document[result](o, 0, "audit", "bootstrap", "--check"), all("ok"))
	})
	t.Run("it mends what has drifted", func(t *testing.T) {
		o := newOps(t)
		o.want(0, "audit", "bootstrap")
		o.change("HOOKS_AUDIT", func(c *jetstream.StreamConfig) { c.Discard, c.MaxMsgs = jetstream.DiscardOld, 10 })
		o.change("HOOKS_CHECKPOINTS", func(c *jetstream.StreamConfig) { c.Subjects = []string{"elsewhere"} })
		o.change("KV_hooks_sessions", func(c *jetstream.StreamConfig) { c.AllowDirect, c.MaxMsgsPerSubject = true, 5 })
		drifted := all("ok")
		drifted["HOOKS_AUDIT"], drifted["HOOKS_CHECKPOINTS"], drifted["hooks_sessions"] = "drifted", "drifted", "drifted"
		got := document[result](o, 1, "audit", "bootstrap", "--check")
		want(t, got, drifted)
		for _, n := range got.Needs {
			if n.Name == "HOOKS_AUDIT" && !slices.Equal(n.Drift, []string{"discard is DiscardOld", "max_msgs is 10"}) {
				t.Errorf("the drift is %q; want discard and max_msgs", n.Drift)
			}
		}
		for name, state := range drifted {
			drifted[name] = strings.ReplaceAll(state, "drifted", "mended")
		}
		want(t, document[result](o, 0, "audit", "bootstrap"), drifted)
		want(t, document[result](o, 0, "audit", "bootstrap", "--check"), all("ok"))
	})
	t.Run("it says what can't be mended", func(t *testing.T) {
		o := newOps(t)
		o.want(0, "audit", "bootstrap")
		o.change("HOOKS_AUDIT", func(c *jetstream.StreamConfig) { c.AllowMsgTTL = true })
		out := o.want(1, "audit", "bootstrap", "--text")
		if !strings.Contains(out.Stdout, "allow_msg_ttl is true") || !strings.Contains(out.Stdout, "audit rotate") {
			t.Errorf("it says %q; want the setting, and what to do", out.Stdout)
		}
	})
	t.Run("a stream of somebody else on the subjects", func(t *testing.T) {
		o := newOps(t)
		if _, err := o.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"hooks.audit.>"}}); err != nil {
			t.Fatal(err)
		}
		failed := all("made")
		failed["HOOKS_AUDIT"] = "failed"
		want(t, document[result](o, 1, "audit", "bootstrap"), failed)
	})
	t.Run("replicas that nobody has", func(t *testing.T) {
		o := newOps(t)
		o.refused("1, 3 or 5", "audit", "bootstrap", "--replicas", "2")
		o.want(0, "audit", "bootstrap")
		got := document[result](o, 1, "audit", "bootstrap", "--replicas", "3")
		for _, n := range got.Needs {
			if n.State != "drifted" || n.Error == "" {
				t.Errorf("%s is %s, %q; want that it can't be kept three times", n.Name, n.State, n.Error)
			}
		}
	})
}

func TestAuditRotate(t *testing.T) {
	t.Parallel()
	o := newOps(t)
	o.refused("no audit log", "audit", "rotate")
	o.router(o.key)
	o.emit("s1")
	for _, flags := range [][]string{{"--max-bytes", "1GB"}, {"--older-than", "30d"}, {"--max-bytes", "1GB", "--older-than", "1h"}} {
		if got := document[auditops.Rotated](o, 0, append([]string{"audit", "rotate"}, flags...)...); got.Rotated || got.Reason == "" {
			t.Errorf("%v: %+v; want nothing done, and why", flags, got)
		}
	}
	got := document[auditops.Rotated](o, 0, "audit", "rotate", "--max-bytes", "10", "--older-than", "30d")
	if !got.Rotated || !got.Signed || got.Segment != "HOOKS_AUDIT" || got.Live != "HOOKS_AUDIT_2" || got.Size == 0 || got.Root == "" {
		t.Errorf("%+v; want the first segment closed and signed", got)
	}
	if got := document[auditops.Rotated](o, 0, "audit", "rotate"); got.Rotated || got.Reason != "it is empty" {
		t.Errorf("%+v; want an empty segment left alone", got)
	}
	o.emit("s2")
	if got := document[auditops.Rotated](o, 0, "audit", "rotate"); !got.Signed || got.Segment != "HOOKS_AUDIT_2" {
		t.Errorf("%+v; want the second segment closed and signed", got)
	}
	for _, bad := range [][]string{{"--max-bytes", "much"}, {"--max-bytes", "-1"}, {"--older-than", "0d"}, {"--older-than", "soon"}} {
		o.want(1, append([]string{"audit", "rotate"}, bad...)...)
	}
}

func TestAuditRotateWithoutASignature(t *testing.T) {
	t.Parallel()
	o := newOps(t)
	stop := o.router(nil)
	o.emit("s1")
	out := o.want(cli.ExitDisconnected, "audit", "rotate", "--wait", "100ms", "--text")
	if !strings.Contains(out.Stderr, "NOT SIGNED YET") || !strings.Contains(out.Stdout, "HOOKS_AUDIT_2 is live") {
		t.Errorf("it says %q, %q; want that nobody signed", out.Stdout, out.Stderr)
	}
	stop()
	o.router(o.key)
	o.awaitCheckpoint("HOOKS_AUDIT")
}

// write publishes to the log in a way that no router does, and waits until the log has a record.
func (o *ops) write(body, awaited string) {
	o.T.Helper()
	sub, err := o.NC.SubscribeSync("hooks.audit.w.>")
	if err != nil {
		o.T.Fatal(err)
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection is closed soon
	if err := o.NC.Publish("hooks.audit.w.evil", []byte(body)); err != nil {
		o.T.Fatal(err)
	}
	for ctx := testkit.Within(o.T, time.Minute); ; {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			o.T.Fatalf("no %s: %v", awaited, err)
		}
		if strings.Contains(string(msg.Data), awaited) {
			return
		}
	}
}

// alarms returns the alarms of the segments, as stats shows them.
func (o *ops) alarms() (list []*query.Alarm) {
	o.T.Helper()
	for _, s := range document[struct {
		Segments []struct{ Alarm *query.Alarm }
	}](o, 0, "audit", "stats").Segments {
		list = append(list, s.Alarm)
	}
	return list
}

// After an alarm, commands do not tell an operator to start a router, since no router will sign.
func TestTheSegmentOfAnAlarmIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	o := newOps(t)
	o.router(o.key)
	o.emit("s1")
	o.awaitCheckpoint("HOOKS_AUDIT")
	o.write("hello", `"action":"alarm"`)
	if got := o.alarms(); got[0] == nil || got[0].Next != "" || !strings.Contains(got[0].Reason, "hooks.audit.w.evil is not a record of a router") {
		t.Errorf("stats of the live segment: %+v; want the alarm", got[0])
	}
	file, pub := o.file("first.jsonl"), o.file("audit.key.pub")
	o.refused("HOOKS_AUDIT has the record of an alarm", "audit", "export", file, "--wait", "10ms")
	got := document[auditops.Rotated](o, cli.ExitLocal, "audit", "rotate", "--wait", "1h")
	if got.Signed || got.Live != "HOOKS_AUDIT_2" || got.Alarm == nil || got.Alarm.Next != "HOOKS_AUDIT_2" || !strings.Contains(got.Alarm.Reason, "hooks.audit.w.evil") {
		t.Errorf("rotate: %+v; want the segment closed, and the alarm", got)
	}
	had := "routers no longer sign it; HOOKS_AUDIT_2 is signed"
	o.refused(had, "audit", "export", file, "--resume", "--segment", "1", "--wait", "10ms")
	o.refused(had, "audit", "remove", "HOOKS_AUDIT", "--export", file, "--key", pub, "--yes")
	if out := o.want(0, "audit", "stats", "--text"); !strings.Contains(out.Stdout, "ALARM: HOOKS_AUDIT had an alarm (message 2") {
		t.Errorf("stats says %q; want the alarm", out.Stdout)
	}
	if got := o.alarms(); got[1] != nil {
		t.Errorf("stats of the second segment: %+v; want no alarm", got[1])
	}
	o.want(40, "audit", "verify", "--key", pub, "--wait", "10ms")
	o.want(40, "audit", "verify", file, "--key", pub)
	second := o.file("second.jsonl")
	o.want(0, "audit", "export", second, "--segment", "2")
	o.want(10, "audit", "verify", second, "--key", pub) // the running log was verified before
}

// A forged alarm record does not make commands stop waiting for a signature.
func TestAForgedAlarmChangesNothing(t *testing.T) {
	t.Parallel()
	forged := string(audit.Record{Time: time.Now(), Kind: audit.LogKind, Action: "alarm", Detail: audit.Note{Reason: "forged"}}.Append(nil))
	t.Run("before a router signs the end", func(t *testing.T) {
		t.Parallel()
		o := newOps(t)
		o.router(o.key)
		o.emit("s1")
		o.write(forged, "forged")
		if got := document[auditops.Rotated](o, 0, "audit", "rotate", "--wait", "1h"); !got.Signed || got.Alarm != nil {
			t.Errorf("rotate: %+v; want it signed", got)
		}
		o.emit("s1")
		o.awaitCheckpoint("HOOKS_AUDIT_2")
		if got := o.alarms(); got[0] != nil {
			t.Errorf("stats: %+v; want no alarm", got[0])
		}
		o.want(0, "audit", "export", o.file("first.jsonl"), "--segment", "1")
	})
	t.Run("where no router signs", func(t *testing.T) {
		t.Parallel()
		o := newOps(t)
		stop := o.router(nil)
		o.emit("s1")
		o.write(forged, "forged")
		stop()
		out := o.want(cli.ExitDisconnected, "audit", "rotate", "--wait", "100ms", "--text")
		if !strings.Contains(out.Stderr, "NOT SIGNED YET") {
			t.Errorf("rotate says %q, %q; want that nobody signed", out.Stdout, out.Stderr)
		}
		o.refused("start a router with an audit key", "audit", "remove", "HOOKS_AUDIT", "--export", "none", "--key", o.file("audit.key.pub"))
		o.refused("unless it is forged", "audit", "export", o.file("first.jsonl"), "--segment", "1", "--wait", "10ms")
		if out := o.want(0, "audit", "stats", "--text"); !strings.Contains(out.Stdout, "unless it is") {
			t.Errorf("stats says %q; want that the record may be forged", out.Stdout)
		}
	})
}

// awaitCheckpoint waits for the first checkpoint of a segment.
func (o *ops) awaitCheckpoint(segment string) {
	o.T.Helper()
	b, err := natsx.New(o.NC, "hooks", nil)
	if err != nil {
		o.T.Fatal(err)
	}
	s, err := b.OpenStream(o.T.Context(), store.CheckpointStream(b))
	if err != nil {
		o.T.Fatal(err)
	}
	seen := errors.New("it is there")
	err = s.Follow(o.T.Context(), store.CheckpointSubject(b, segment), natsx.Start{}, func(natsx.Record) error { return seen }, func() {})
	if !errors.Is(err, seen) {
		o.T.Fatal(err)
	}
}

func TestAuditRemove(t *testing.T) {
	t.Parallel()
	o := newOps(t)
	stop := o.router(o.key)
	o.emit("s1")
	pub := o.file("audit.key.pub")
	first, cut := o.file("first.jsonl"), o.file("cut.jsonl")
	o.want(0, "audit", "export", cut)
	remove := func(segment, file string, more ...string) []string {
		return append([]string{"audit", "remove", segment, "--export", file, "--key", pub}, more...)
	}
	o.refused("there is no segment X", remove("X", cut)...)
	o.refused("the live one", remove("HOOKS_AUDIT", cut)...)
	o.emit("s1")
	o.want(0, "audit", "rotate")
	o.refused("a second after the first record of the segment", remove("HOOKS_AUDIT", cut)...)
	o.emit("s1")
	o.awaitCheckpoint("HOOKS_AUDIT_2")
	o.want(0, "audit", "rotate")
	o.emit("s1")
	o.awaitCheckpoint("HOOKS_AUDIT_3")
	o.want(0, "audit", "export", first, "--segment", "1")
	second := o.file("second.jsonl")
	o.want(0, "audit", "export", second, "--segment", "2")

	o.refused("is older", remove("HOOKS_AUDIT_2", second)...)
	o.refused("does not verify", remove("HOOKS_AUDIT", cut, "--yes")...)
	o.refused("does not verify", remove("HOOKS_AUDIT", second, "--yes")...)
	o.refused("no such file", remove("HOOKS_AUDIT", o.file("none"), "--yes")...)
	o.refused("was not typed", remove("HOOKS_AUDIT", first)...)
	o.want(0, "audit", "key", "new", o.file("other.key"))
	o.refused("no known router's key", "audit", "remove", "HOOKS_AUDIT", "--export", first, "--key", o.file("other.key.pub"), "--yes")
	forged, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, []byte(strings.Replace(string(forged), "continue", "CONTINUE", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	o.refused("does not verify", remove("HOOKS_AUDIT", cut, "--yes")...)
	if !slices.Contains(o.streams(), "HOOKS_AUDIT") {
		t.Fatal("it was removed")
	}

	typed := cli.Process{Stdin: strings.NewReader("HOOKS_AUDIT\n")}
	o.wantWith(typed, 0, remove("HOOKS_AUDIT", first)...)
	if slices.Contains(o.streams(), "HOOKS_AUDIT") {
		t.Fatal("it is still there")
	}
	o.want(20, "audit", "verify", "--key", pub, "--no-pin") // the rest, from the second segment on
	o.want(20, "audit", "verify", first, second, "--key", pub, "--no-pin")
	if got := document[auditops.RemovedSegment](o, 0, remove("HOOKS_AUDIT_2", second, "--yes")...); got.Removed != "HOOKS_AUDIT_2" {
		t.Errorf("%+v; want the second removed", got)
	}
	stop()
	o.router(o.key) // and the log continues
	o.emit("s1")
	o.want(20, "audit", "verify", "--key", pub, "--no-pin")
}

func TestAuditRemoveWaitsForQuestions(t *testing.T) {
	t.Parallel()
	o := newOps(t)
	o.router(o.key)
	o.emit("s1")
	o.want(0, "audit", "rotate")
	o.emit("s1")
	o.awaitCheckpoint("HOOKS_AUDIT_2")
	first := o.file("first.jsonl")
	o.want(0, "audit", "export", first, "--segment", "1")
	args := []string{"audit", "remove", "HOOKS_AUDIT", "--export", first, "--key", o.file("audit.key.pub"), "--yes"}
	kv, err := o.js.KeyValue(t.Context(), "hooks_approvals")
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		if _, err := kv.Put(t.Context(), "question", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"segment":1}`)
	o.refused("1 approval request", args...)
	put(`{"segment":2}`)
	o.want(0, args...)
}

func TestAuditErase(t *testing.T) {
	t.Parallel()
	o := newOps(t)
	o.refused("there are no salts", "audit", "erase", "--session", "s1")
	stop := o.router(o.key)
	o.emit("s1")
	o.emit("s2")
	stop() // so that the salts are stored
	salts, err := o.js.Stream(t.Context(), "KV_hooks_salts")
	if err != nil {
		t.Fatal(err)
	}
	stored := func() uint64 {
		t.Helper()
		info, err := salts.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Msgs
	}
	if stored() != 2 {
		t.Fatalf("there are %d salts; want 2", stored())
	}
	of := func(session string) string { return "$KV.hooks_salts." + recorder.SaltKey(session) + ".*" }
	if got := document[auditops.Erased](o, 0, "audit", "erase", "--session", "s1", "--dry-run"); got != (auditops.Erased{Salts: 1, Sessions: 1, DryRun: true}) || stored() != 2 {
		t.Errorf("%+v; want one counted and none erased", got)
	}
	for line := range strings.Lines(o.want(0, "audit", "erase", "--session", "s1", "--dry-run", "--text").Stdout) {
		if len(line) > 81 {
			t.Errorf("the line is wider than 80 columns: %s", line)
		}
	}
	if got := document[auditops.Erased](o, 0, "audit", "erase", "--session", "s1"); got != (auditops.Erased{Salts: 1, Sessions: 1}) || stored() != 1 {
		t.Errorf("%+v, and %d are left; want one erased, without a mark", got, stored())
	}
	if _, err := salts.GetLastMsgForSubject(t.Context(), of("s1")); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Errorf("the salt of s1: %v; want it gone", err)
	}
	if _, err := salts.GetLastMsgForSubject(t.Context(), of("s2")); err != nil {
		t.Errorf("the salt of s2: %v; want it there", err)
	}
	if got := document[auditops.Erased](o, 0, "audit", "erase", "--before", "1h"); got.Salts != 0 || stored() != 1 {
		t.Errorf("%+v; want none that is an hour old", got)
	}
	if got := document[auditops.Erased](o, 0, "audit", "erase", "--before", "0h"); got.Salts != 1 || stored() != 0 {
		t.Errorf("%+v, and %d are left; want all erased", got, stored())
	}
	o.want(20, "audit", "verify", "--key", o.file("audit.key.pub"), "--no-pin") // proofs are still valid
	o.want(1, "audit", "erase")
	o.want(1, "audit", "erase", "--session", "s1", "--before", "1h")
	o.refused("--before", "audit", "erase", "--before", "soon")
}

func TestAuditWitness(t *testing.T) {
	t.Parallel()
	o := newOps(t)
	pub := o.file("audit.key.pub")
	o.want(0, "audit", "key", "new", o.file("w.key"), "--name", "witness")
	args := []string{"audit", "witness", "--witness-key", o.file("w.key"), "--key", pub, "--state", o.file("state.json"), "--json"}
	once := append(slices.Clone(args), "--once")
	o.refused("no audit log", once...)
	o.router(o.key)
	o.emit("s1")
	o.awaitCheckpoint("HOOKS_AUDIT")
	out := o.want(0, once...)
	if !strings.Contains(out.Stdout, `"kind":"signed"`) || !strings.Contains(out.Stderr, "--witness witness+") {
		t.Errorf("it says %q, %q; want that it signed, and its key", out.Stdout, out.Stderr)
	}
	text := o.want(0, append(slices.DeleteFunc(slices.Clone(once), func(a string) bool { return a == "--json" }), "--text")...).Stdout
	if !strings.Contains(text, " started at size ") || strings.Contains(text, "signed signed") {
		t.Errorf("it says %q; want the kind of each event once", text)
	}
	o.want(0, "audit", "rotate")
	o.emit("s1")
	running := o.Start(cli.Process{}, args...)
	for !strings.Contains(running.Line(), `"origin":"hooks/HOOKS_AUDIT_2"`) {
	}
	if code := running.End(); code != 0 {
		t.Errorf("interrupted, it ends with %d; want 0", code)
	}
	o.want(0, once...)

	// The end of the first segment is witnessed, so it may be removed.
	first := o.file("first.jsonl")
	o.want(0, "audit", "export", first, "--segment", "1")
	o.want(0, "audit", "remove", "HOOKS_AUDIT", "--export", first, "--key", pub, "--yes")

	// Somebody removes the log.
	if err := o.js.DeleteStream(t.Context(), "HOOKS_AUDIT_2"); err != nil {
		t.Fatal(err)
	}
	if err := o.js.DeleteStream(t.Context(), "HOOKS_CHECKPOINTS"); err != nil {
		t.Fatal(err)
	}
	out = o.want(30, args...)
	if !strings.Contains(out.Stderr, "REFUSED") || !strings.Contains(out.Stderr, "state.json.fork.json") || !strings.Contains(out.Stdout, `"kind":"refused"`) {
		t.Errorf("it says %q, %q; want a refusal, and where the proof is", out.Stdout, out.Stderr)
	}
	o.want(30, args...)

	o.refused("there is no file", "audit", "witness", "--witness-key", o.file("none"), "--key", pub, "--state", o.file("x"))
	o.refused("holds no private key", "audit", "witness", "--witness-key", pub, "--key", pub, "--state", o.file("x"))
	o.refused("key of its own", "audit", "witness", "--witness-key", o.file("audit.key"), "--key", pub, "--state", o.file("x"))
}

func TestAuditRemoveWaitsForWitnesses(t *testing.T) {
	t.Parallel()
	o := newOps(t)
	o.router(o.key)
	o.emit("s1")
	o.awaitCheckpoint("HOOKS_AUDIT")
	pub := o.file("audit.key.pub")
	o.want(0, "audit", "key", "new", o.file("w.key"), "--name", "witness")
	o.want(0, "audit", "witness", "--witness-key", o.file("w.key"), "--key", pub, "--state", o.file("state.json"), "--once")
	o.emit("s1")
	o.want(0, "audit", "rotate")
	o.emit("s1")
	o.awaitCheckpoint("HOOKS_AUDIT_2")
	first := o.file("first.jsonl")
	o.want(0, "audit", "export", first, "--segment", "1", "--wait", "10ms") // no witness signs the end
	args := []string{"audit", "remove", "HOOKS_AUDIT", "--export", first, "--key", pub, "--yes"}
	o.refused("the witness witness+", args...)
	o.want(0, append(args, "--unwitnessed")...)
}
