package approvals_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// owners are ann and bob.
func owners(t *testing.T) approvals.Options {
	t.Helper()
	p, err := people.Parse("groups.yaml", []byte("people: {ann: {identities: [console ann]}, bob: {identities: [console bob]}}\ngroups: {owners: [ann, bob]}"))
	if err != nil {
		t.Fatal(err)
	}
	return approvals.Options{People: p}
}

// forTwo is an event that both owners must allow.
func forTwo(id string) *held.Event {
	e := event(id, "s1")
	e.Needs = &chain.Approval{Approvers: []chain.Approvers{{Group: "owners", Count: 2}}}
	return e
}

var allow = approval.Answer{Option: "Allow"}

// Where two people allow at the same moment at two replicas, one of them completes what the
// other began.
func TestTwoAllowAtOnce(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	here, _ := running(t, server, owners(t))
	there, _ := running(t, server, owners(t))
	for i := range testkit.Volume(t, 10, 30, 200) {
		e := ask(t, here, forTwo(fmt.Sprintf("two%d", i)))
		var both sync.WaitGroup
		for who, svc := range map[string]*approvals.Service{"console ann": here, "console bob": there} {
			both.Go(func() {
				if _, err := svc.Answer(t.Context(), e.ID, allow, who); err != nil {
					t.Errorf("%s: %v", who, err)
				}
			})
		}
		both.Wait()
		r, err := there.Get(t.Context(), e.ID)
		if err != nil || r.Decision == nil || !r.Granted || len(r.ApprovedBy) != 2 {
			t.Fatalf("both allowed: %+v, %v", r, err)
		}
	}
}

// When the time is over, the approvals that are there are not enough, whatever the hook
// wanted. What is stored with a request does not outlive it.
func TestPartOfTheApprovalsDecidesNothing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Server(t)
		svc, _ := running(t, server, owners(t))
		e := forTwo("late")
		e.Expires = approval.At(time.Now().Add(time.Second))
		ask(t, svc, e)
		if d, err := svc.Answer(t.Context(), "late", allow, "console ann"); err != nil || d.Ends() {
			t.Fatalf("one of two ends it: %+v, %v", d, err)
		}
		js, err := jetstream.New(natstest.Conn(t, server))
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), "KV_hooks_approvals")
		if err != nil {
			t.Fatal(err)
		}
		m, err := stream.GetLastMsgForSubject(t.Context(), "$KV.hooks_approvals.late")
		if err != nil {
			t.Fatal(err)
		}
		if ttl, err := time.ParseDuration(m.Header.Get("Nats-TTL")); err != nil || ttl < 23*time.Hour || ttl > 25*time.Hour {
			t.Errorf("it is kept for %v, %v", ttl, err)
		}
		ended := make(chan *approval.Decision, 1)
		svc.Await(e, time.Now().Add(testkit.Patience), func(_ *held.Event, d *approval.Decision) { ended <- d })
		if d := <-ended; d == nil || d.Granted || !d.TimedOut {
			t.Errorf("the time is over: %+v", d)
		}
		_, err = svc.Answer(t.Context(), "late", allow, "console bob")
		mustHave(t, err, wire.Gone, "ended")
	})
}

// An approval that is not on record does not count.
func TestNoApprovalWithoutItsRecord(t *testing.T) {
	t.Parallel()
	o := owners(t)
	full := true
	var recorded []string
	o.Sessions = &fake{reviewed: func(r approval.Review) error {
		if full {
			return errors.New("the disk is full")
		}
		recorded = append(recorded, r.By)
		return nil
	}}
	svc, _ := running(t, natstest.Server(t), o)
	ask(t, svc, forTwo("noted"))
	if _, err := svc.Answer(t.Context(), "noted", allow, "console ann"); wire.CodeOf(err) != wire.Unavailable {
		t.Errorf("%v; want a refusal", err)
	}
	if r, err := svc.Get(t.Context(), "noted"); err != nil || len(r.Reviews) != 0 {
		t.Errorf("%+v, %v", r.Request, err)
	}
	full = false
	notices, stop := svc.Watch()
	defer stop()
	if _, err := svc.Answer(t.Context(), "noted", allow, "console ann"); err != nil {
		t.Fatal(err)
	}
	if n := <-notices; n.Decision != nil || n.Request.Progress != "1 of 2: ann allowed; needs 1 of owners" {
		t.Errorf("watchers are told %+v", n)
	}
	if !slices.Equal(recorded, []string{"console ann"}) {
		t.Errorf("recorded %v", recorded)
	}
}

// A request keeps no more notes than are of use.
func TestWhoMayPassARequestOn(t *testing.T) {
	t.Parallel()
	svc, _ := running(t, natstest.Server(t), owners(t))
	ask(t, svc, event("plain", "s1"))
	note := approval.Answer{Pass: true, Note: "ask bob", By: "bob"}
	for _, who := range []string{"", "approval link", "console token", "nats agent/coder"} {
		_, err := svc.Answer(t.Context(), "plain", note, who)
		mustHave(t, err, wire.Forbidden, "not a known person")
	}
	if _, err := svc.Answer(t.Context(), "plain", note, "console ann"); err != nil {
		t.Fatal(err)
	}
	_, err := svc.Answer(t.Context(), "plain", note, "console ann")
	mustHave(t, err, wire.Conflict, "already")
	if r, err := svc.Get(t.Context(), "plain"); err != nil || r.Decision != nil || len(r.Reviews) != 1 || r.Reviews[0].String() != "ann passed it on: ask bob" {
		t.Errorf("%+v, %v", r.Request, err)
	}
	if d, err := svc.Answer(t.Context(), "plain", allow, ""); err != nil || !d.Granted {
		t.Errorf("anybody may allow it: %+v, %v", d, err)
	}
}
