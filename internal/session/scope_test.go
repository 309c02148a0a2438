package session_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

const coder = "nats agent/coder"

// of is the request of a sender's session in the tree of s1.
func of(id, emitter, name string) *held.Event {
	r := &held.Event{Record: request(id), Content: "c", Root: "s1", Arrived: time.Now()}
	r.Emitter, r.Session = emitter, name
	return r
}

func answers(t *testing.T, s *session.Store, r *held.Event) string {
	t.Helper()
	id, _, err := s.Granted(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func scoped(scope string, expires time.Time) approval.Decision {
	d := always
	d.Scope, d.GrantExpires = scope, approval.At(expires)
	return d
}

// A grant beyond a session has an end, and holds for no session that has seen more.
func TestAGrantBeyondASessionEnds(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{approval.ScopeLineage, approval.ScopeAgent} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			grantEnds(t, open(t, natstest.Server(t)), scope)
		})
	}
}

func grantEnds(t *testing.T, store *session.Store, scope string) {
	t.Helper()
	if err := store.Remember(t.Context(), of("late", coder, "s1"), scoped(scope, time.Now())); err != nil {
		t.Fatal(err)
	}
	if id := answers(t, store, of("", coder, "s1")); id != "" {
		t.Errorf("what expired answers: %s", id)
	}
	if err := store.Remember(t.Context(), of("a-"+scope, coder, "s1"), scoped(scope, time.Now().Add(time.Second))); err != nil {
		t.Fatal(err)
	}
	if id := answers(t, store, of("", coder, "s2")); id != "a-"+scope {
		t.Errorf("another session is answered by %q", id)
	}
	seen := of("", coder, "s2")
	seen.Labels = []string{"secret-read"}
	if id := answers(t, store, seen); id != "" {
		t.Errorf("a session that has seen more is answered by %q", id)
	}
	if id := answers(t, store, of("", "nats agent/rival", "s1")); id != "" {
		t.Errorf("another agent is answered by %q", id)
	}
	testkit.Eventually(t, "it expires", func() bool { return answers(t, store, of("", coder, "s1")) == "" })
	if list, err := store.Scoped(t.Context(), ""); err != nil || len(list) != 0 {
		t.Errorf("listed after its end: %+v, %v", list, err)
	}
}

// What was granted to a tree ends with its root, and with a revocation there. A decision on
// an event of before an end is not remembered.
func TestAGrantToATreeEndsWithItsRoot(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	later := scoped(approval.ScopeLineage, time.Now().Add(time.Hour))
	root := "s1\x00" + coder
	for i, end := range []func() error{
		func() error { return store.End(t.Context(), root) },
		func() error { _, err := store.Revoke(t.Context(), root, "", ""); return err },
		func() error { _, err := store.Revoke(t.Context(), root, "deploys", "Deploy?"); return err },
	} {
		id := fmt.Sprint("a", i)
		if err := store.Remember(t.Context(), of(id, coder, "s2"), later); err != nil {
			t.Fatal(err)
		}
		if got := answers(t, store, of("", coder, "s3")); got != id {
			t.Errorf("%d: answered by %q", i, got)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if got := answers(t, store, of("", coder, "s3")); got != "" {
			t.Errorf("%d: answered by %q after the end", i, got)
		}
	}
	before := of("b", coder, "s4")
	if err := store.End(t.Context(), "s4\x00"+coder); err != nil {
		t.Fatal(err)
	}
	if err := store.Remember(t.Context(), before, scoped(approval.ScopeAgent, time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, store, of("", coder, "s4")); got != "" {
		t.Errorf("answered by %q, whose session had ended", got)
	}
}

// A revocation of a root covers answers to earlier questions that are remembered only later.
func TestARevokedTreeIsGrantedNothing(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	before := of("a1", coder, "s2")
	if _, err := store.Revoke(t.Context(), "s1\x00"+coder, "", ""); err != nil {
		t.Fatal(err)
	}
	later := scoped(approval.ScopeLineage, time.Now().Add(time.Hour))
	for _, one := range []struct {
		asked *held.Event
		want  string
	}{{before, ""}, {of("a2", coder, "s2"), "a2"}} {
		if err := store.Remember(t.Context(), one.asked, later); err != nil {
			t.Fatal(err)
		}
		if got := answers(t, store, of("", coder, "s3")); got != one.want {
			t.Errorf("answered by %q, want %q", got, one.want)
		}
	}
}

// A root may have no state of its own, and an operator need not know whose tree it is.
func TestRevokingARootByItsIDRevokesItsTree(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	if err := store.Remember(t.Context(), of("a1", coder, "s2"), scoped(approval.ScopeLineage, time.Now().Add(time.Hour))); err != nil {
		t.Fatal(err)
	}
	if revoked, err := store.Revoke(t.Context(), "s1", "", ""); revoked != 1 || err != nil {
		t.Errorf("revoked %d, %v", revoked, err)
	}
	if got := answers(t, store, of("", coder, "s3")); got != "" {
		t.Errorf("answered by %q after that", got)
	}
}

// A tree whose root has ended gets no grant from a question of before, whichever of its sessions
// asked.
func TestAnEndedTreeIsGrantedNothing(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	before := of("a1", coder, "s2")
	if err := store.End(t.Context(), "s1\x00"+coder); err != nil {
		t.Fatal(err)
	}
	later := scoped(approval.ScopeLineage, time.Now().Add(time.Hour))
	if err := store.Remember(t.Context(), before, later); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, store, of("", coder, "s3")); got != "" {
		t.Errorf("answered by %q, of before the end", got)
	}
	if err := store.Remember(t.Context(), of("a2", coder, "s2"), later); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, store, of("", coder, "s3")); got != "a2" {
		t.Errorf("answered by %q; want a2, of after the end", got)
	}
}

// A revoked grant stays revoked, and the event that asked has no second permission.
func TestARevokedGrantStaysRevoked(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	r, d := of("a1", coder, "s2"), scoped(approval.ScopeAgent, time.Now().Add(time.Hour))
	if err := store.Remember(t.Context(), r, d); err != nil {
		t.Fatal(err)
	}
	if _, _, _, ok, err := store.RevokeGrant(t.Context(), "other"); ok || err != nil {
		t.Errorf("a grant that is not there: %v, %v", ok, err)
	}
	hook, prompt, name, ok, err := store.RevokeGrant(t.Context(), "a1")
	if hook != "deploys" || prompt != "Deploy?" || name != "s2" || !ok || err != nil {
		t.Errorf("revoked %q %q %q, %v, %v", hook, prompt, name, ok, err)
	}
	if err := store.Remember(t.Context(), r, d); err != nil {
		t.Fatal(err)
	}
	if got := answers(t, store, of("", coder, "s2")); got != "" {
		t.Errorf("answered by %q after the revocation", got)
	}
	if epoch, err := store.Epoch(t.Context(), "s2\x00"+coder); epoch == 0 || err != nil {
		t.Errorf("epoch %d, %v", epoch, err)
	}
}

// What is granted to one agent is bounded: the oldest grant makes room.
func TestGrantsBeyondASessionAreBounded(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	store := open(t, server)
	d := scoped(approval.ScopeAgent, time.Now().Add(time.Hour))
	remember := func(id string) {
		t.Helper()
		r := of(id, coder, "s1")
		r.Content = id
		if err := store.Remember(t.Context(), r, d); err != nil {
			t.Fatal(err)
		}
	}
	remember("a0")
	remember("a1")
	multiply(t, server, 500)
	remember("a500")
	for id, want := range map[string]string{"a0": "", "a1": "a1", "a500": "a500"} {
		r := of("", coder, "s1")
		r.Content = id
		if got := answers(t, store, r); got != want {
			t.Errorf("%s is answered by %q", id, got)
		}
	}
}

// multiply has the only state of a store remember more grants like the last one, a2 and so on:
// to remember them one by one takes long.
func multiply(t *testing.T, s nats.InProcessConnProvider, n int) {
	t.Helper()
	js, err := jetstream.New(natstest.Conn(t, s))
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "hooks_sessions")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := kv.Keys(t.Context())
	if err != nil || len(keys) != 1 {
		t.Fatalf("keys %q, %v; want one", keys, err)
	}
	entry, err := kv.Get(t.Context(), keys[0])
	if err != nil {
		t.Fatal(err)
	}
	var state session.State
	if err := json.Unmarshal(entry.Value(), &state); err != nil {
		t.Fatal(err)
	}
	for i := len(state.Grants); i < n; i++ {
		g := state.Grants[len(state.Grants)-1]
		g.Approval, g.Content = fmt.Sprint("a", i), fmt.Sprint("a", i)
		state.Grants = append(state.Grants, g)
	}
	text, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Update(t.Context(), keys[0], text, entry.Revision()); err != nil {
		t.Fatal(err)
	}
}
