package approvals_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// askedAnew asks about an event with other data under the id of one that was allowed. A request is
// kept for a day, and its decision for as long as its segment of the log.
func askedAnew(t *testing.T, server *embedded.Server) *held.Event {
	t.Helper()
	conn := natstest.Connect(t, natsx.Options{InProcess: server})
	log, err := store.Open(t.Context(), conn, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	purge(t, server, "a1")
	anew := event("a1", "s1")
	anew.Sent, anew.Prompt = "sent-other", "Drop the database?"
	anew.Created = approval.At(time.Now().Add(time.Second))
	return ask(t, service(t, server, approvals.Options{}), anew)
}

func allowed(t *testing.T, svc *approvals.Service) {
	t.Helper()
	ask(t, svc, event("a1", "s1"))
	if _, err := svc.Answer(t.Context(), "a1", approval.Answer{Option: "Allow"}, ""); err != nil {
		t.Fatal(err)
	}
}

// open checks that a replica takes a request as open: it lists it, and a person's answer counts.
func open(t *testing.T, svc *approvals.Service, r *held.Event) {
	t.Helper()
	if d, err := svc.Decision(t.Context(), r); d != nil || err != nil {
		t.Fatalf("it is decided, %+v, %v", d, err)
	}
	list, _, err := svc.Pending(t.Context(), approval.Filter{})
	if err != nil || len(list) != 1 || list[0].Prompt != r.Prompt {
		t.Errorf("open are %+v, %v", list, err)
	}
	verdict := await(svc, r, time.Now().Add(testkit.Patience))
	if _, err := svc.Answer(t.Context(), r.ID, approval.Answer{Option: "Deny"}, ""); err != nil {
		t.Fatal(err)
	}
	if got := <-verdict; got.decision == nil || got.decision.Granted {
		t.Errorf("the agent is told %+v", got.decision)
	}
}

// A replica that was away when the store dropped a request does not list it for ever.
func TestAnOpenRequestThatTheStoreDroppedEnds(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	svc, _ := running(t, server, approvals.Options{})
	short := event("a1", "s1")
	short.Expires = approval.At(time.Now().Add(500 * time.Millisecond))
	ask(t, svc, short)
	purge(t, server, "a1")
	testkit.Eventually(t, "it is not listed", func() bool {
		_, total, err := svc.Pending(t.Context(), approval.Filter{})
		return err == nil && total == 0
	})
}

// purge removes a request, and whatever tells of that: the time of its marker is over too.
func purge(t *testing.T, server *embedded.Server, id string) {
	t.Helper()
	js, err := jetstream.New(natstest.Conn(t, server))
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.Stream(t.Context(), "KV_hooks_approvals")
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Purge(t.Context(), jetstream.WithPurgeSubject("$KV.hooks_approvals."+id)); err != nil {
		t.Fatal(err)
	}
}

// A replica that starts reads old decisions too.
func TestAnOldDecisionDecidesNoNewRequest(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	allowed(t, service(t, server, approvals.Options{}))
	anew := askedAnew(t, server)
	late, _ := running(t, server, approvals.Options{})
	open(t, late, anew)
}

// A replica that was away for long misses that the store dropped a request.
func TestANewRequestReplacesOneThatTheStoreDropped(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	svc, _ := running(t, server, approvals.Options{})
	allowed(t, svc)
	anew := askedAnew(t, server)
	if _, _, err := svc.Pending(t.Context(), approval.Filter{}); err != nil { // it has caught up
		t.Fatal(err)
	}
	open(t, svc, anew)
}

// A replica that was away for longer than the store tells of what it dropped frees the room of
// that.
func TestDroppedRequestsDoNotCountAsStored(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Server(t)
		svc, conn := connected(t, server, approvals.Options{MaxPerSession: 1})
		run(t, svc)
		for i := range 10 {
			id := fmt.Sprint("a", i)
			ask(t, svc, event(id, "s1"))
			if _, err := svc.Answer(t.Context(), id, approval.Answer{Option: "Deny"}, ""); err != nil {
				t.Fatal(err)
			}
			purge(t, server, id)
		}
		if _, _, err := svc.Ask(t.Context(), event("b1", "s1")); wire.CodeOf(err) != wire.Overloaded {
			t.Fatalf("while they are kept: %v; want 429", err)
		}
		<-time.After(27 * time.Hour)
		if err := conn.Conn().ForceReconnect(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		ask(t, svc, event("b1", "s1"))
	})
}
