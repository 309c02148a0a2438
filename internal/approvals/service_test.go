package approvals_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for people
	goleak.VerifyTestMain(m)
}

// service returns a replica's service on a server, which does not run yet.
func service(t *testing.T, s natsx.InProcess, o approvals.Options) *approvals.Service {
	t.Helper()
	svc, _ := connected(t, s, o)
	return svc
}

// connected is service, and its connection. The sessions in its options are a [fake], which is its
// dispatcher too.
func connected(t *testing.T, s natsx.InProcess, o approvals.Options) (*approvals.Service, *natsx.Conn) {
	t.Helper()
	conn := natstest.Connect(t, natsx.Options{InProcess: s})
	bucket, err := conn.OpenBucket(t.Context(), approvals.Bucket(conn.Prefix(), 1))
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Open(t.Context(), conn, 1)
	if err != nil {
		t.Fatal(err)
	}
	if o.People == nil {
		o.People = (*people.People)(nil)
	}
	if o.Sessions == nil {
		o.Sessions = &fake{}
	}
	if o.Mask == nil {
		o.Mask = func(*approval.Record) {}
	}
	o.MaskText = strings.Clone
	svc := approvals.New(conn, bucket, log, o)
	svc.Bind(o.Sessions.(*fake))
	return svc, conn
}

// running is service, and runs it until the test ends or stop is called.
func running(t *testing.T, s natsx.InProcess, o approvals.Options) (svc *approvals.Service, stop func()) {
	t.Helper()
	svc = service(t, s, o)
	return svc, run(t, svc)
}

// run runs a service until the test ends or stop is called.
func run(t *testing.T, svc *approvals.Service) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { svc.Run(ctx) })
	stop = func() {
		cancel()
		wg.Wait()
	}
	t.Cleanup(stop)
	testkit.Closed(t, "what was open", svc.Loaded())
	return stop
}

const data = `{ "cmd": "make  deploy" }`

// event is an event of a session that waits for a person for an hour.
func event(id, session string) *held.Event {
	q := approval.Request{
		ID: id, Session: session, Event: "tool:pre", Hook: "deploys", Prompt: "Deploy " + id + "?", Options: []string{"Allow", "Deny"}, Default: "deny",
		Created: approval.At(time.Now()), Expires: approval.At(time.Now().Add(time.Hour)), DataSHA256: approval.Digest([]byte(data)),
	}
	return &held.Event{
		Record: approval.Record{Request: q, EventID: "e-" + id, Data: json.RawMessage(data)}, Sent: "sent-" + id, Arrived: time.Now(),
		Verdict: verdict.Verdict{Action: verdict.Pending},
	}
}

func ask(t *testing.T, s *approvals.Service, e *held.Event) *held.Event {
	t.Helper()
	stored, asked, err := s.Ask(t.Context(), e)
	if err != nil || !asked {
		t.Fatalf("ask %s: asked %v, %v", e.ID, asked, err)
	}
	return stored
}

func mustHave(t *testing.T, err error, code int, text string) {
	t.Helper()
	if wire.CodeOf(err) != code || !strings.Contains(err.Error(), text) {
		t.Errorf("error is %v (%d), want %d with %q", err, wire.CodeOf(err), code, text)
	}
}

// An agent sends its event again, perhaps to another replica: there is one request, the
// first, and only one of them may be announced.
func TestAnEventHasOneRequest(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	services := []*approvals.Service{service(t, server, approvals.Options{}), service(t, server, approvals.Options{})}
	first := event("a1", "s1")
	first.Prompt = "The first?"
	ask(t, services[0], first)
	for i, svc := range services {
		stored, asked, err := svc.Ask(t.Context(), event("a1", "s1"))
		if err != nil || asked || stored.Prompt != "The first?" || string(stored.Data) != data {
			t.Errorf("again at replica %d: asked %v, %+v, %v", i, asked, stored, err)
		}
	}
}

func TestAsksAtOnceMakeOneRequest(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	asked := make(chan bool, 8)
	var wg sync.WaitGroup
	for range cap(asked) {
		svc := service(t, server, approvals.Options{})
		wg.Go(func() {
			_, first, err := svc.Ask(t.Context(), event("a1", "s1"))
			if err != nil {
				t.Error(err)
			}
			asked <- first
		})
	}
	wg.Wait()
	close(asked)
	n := 0
	for first := range asked {
		if first {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of them are new, want one", n)
	}
}

func TestTheSameEventWithOtherData(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	here, there := service(t, server, approvals.Options{}), service(t, server, approvals.Options{})
	ask(t, here, event("a1", "s1"))
	other := event("a1", "s1")
	other.Sent = "other"
	_, _, err := there.Ask(t.Context(), other)
	mustHave(t, err, wire.Conflict, "with other data")
	_, err = there.Find(t.Context(), "a1", "e-a1", "other")
	mustHave(t, err, wire.Conflict, "with other data")
	mustHave(t, here.CheckData("a1", "e-a1", func() string { return "other" }), wire.Conflict, "with other data")
	if err := here.CheckData("a1", "e-a1", func() string { return "sent-a1" }); err != nil {
		t.Errorf("the same data: %v", err)
	}
	if e, err := there.Find(t.Context(), "a1", "e-a1", "sent-a1"); err != nil || e == nil || string(e.Data) != data {
		t.Errorf("the same data is found as %+v, %v", e, err)
	}
	if e, err := there.Find(t.Context(), "a2", "e-a2", "sent"); err != nil || e != nil {
		t.Errorf("an event without a request has %+v, %v", e, err)
	}
}

// People answer at two replicas at the same time. One answer decides; the other person
// learns which.
func TestConcurrentAnswersMakeOneDecision(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	services := map[string]*approvals.Service{"Allow": service(t, server, approvals.Options{}), "Deny": service(t, server, approvals.Options{})}
	ask(t, services["Allow"], event("a1", "s1"))
	type result struct {
		option string
		approval.Decision
		err error
	}
	results := make(chan result, len(services))
	for option, svc := range services {
		go func() {
			d, err := svc.Answer(t.Context(), "a1", approval.Answer{Option: option}, "who-"+option)
			results <- result{option, d, err}
		}()
	}
	won, lost := testkit.Receive(t, "an answer", results), testkit.Receive(t, "an answer", results)
	if won.err != nil {
		won, lost = lost, won
	}
	if won.err != nil || won.Option != won.option || won.Granted != (won.option == "Allow") || won.DecidedBy != "who-"+won.option {
		t.Fatalf("the winner: %+v", won)
	}
	mustHave(t, lost.err, wire.Conflict, `already decided: "`+won.option+`" by who-`+won.option)
	for option, svc := range services {
		r, err := svc.Get(t.Context(), "a1")
		if err != nil || r.Decision == nil || r.Option != won.option || string(r.Data) != data {
			t.Errorf("the replica of %s shows %+v %+v, %v", option, r, r.Decision, err)
		}
	}
}

func TestAnswersThatDecideNothing(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	svc := service(t, server, approvals.Options{})
	ask(t, svc, event("a1", "s1"))
	_, err := svc.Answer(t.Context(), "nobody", approval.Answer{Option: "Allow"}, "ann")
	mustHave(t, err, wire.NotFound, `"nobody"`)
	_, err = svc.Answer(t.Context(), "a1.>", approval.Answer{Option: "Allow"}, "ann")
	mustHave(t, err, wire.NotFound, `"a1.>"`)
	_, err = svc.Answer(t.Context(), "a1", approval.Answer{Option: "Perhaps"}, "ann")
	mustHave(t, err, wire.Malformed, `"Perhaps" is not one of`)
	_, err = svc.Answer(t.Context(), "a1", approval.Answer{Option: "Allow", DataSHA256: "00"}, "ann")
	mustHave(t, err, wire.Conflict, "data_sha256")
	strict := service(t, server, approvals.Options{ProvenOnly: true})
	_, err = strict.Answer(t.Context(), "a1", approval.Answer{Option: "Allow"}, "")
	mustHave(t, err, wire.Forbidden, "account of your own")
	if r, err := svc.Get(t.Context(), "a1"); err != nil || r.Decision != nil {
		t.Errorf("it is decided: %+v, %v", r.Decision, err)
	}
}

// What holds beyond a session is for proven senders, and proven approvers give it.
func TestAScopeTakesProvenIdentities(t *testing.T) {
	t.Parallel()
	svc, _ := running(t, natstest.Server(t), approvals.Options{})
	for i, c := range []struct {
		emitter, who string
		want         int
	}{{"", "ann", 403}, {"nats agent/coder", "", 403}, {"nats agent/coder", "ann", 0}} {
		e := event(fmt.Sprint("a", i), "s1")
		e.Options, e.Emitter = []string{"Allow always", "Deny"}, c.emitter
		ask(t, svc, e)
		d, err := svc.Answer(t.Context(), e.ID, approval.Answer{Option: "Allow always", Scope: "agent"}, c.who)
		if wire.CodeOf(err) != c.want || err == nil && (d.Scope != "agent" || d.GrantExpires.IsZero()) {
			t.Errorf("%+v: %+v, %v", c, d, err)
		}
		if err == nil {
			if r, err := svc.Get(t.Context(), e.ID); err != nil || r.Scope != "agent" || !r.GrantExpires.Equal(d.GrantExpires.Time) {
				t.Errorf("it is on record as %+v, %v", r.Decision, err)
			}
		}
	}
}
