package approvals_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

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
	conn, err := natsx.Connect(natsx.Options{InProcess: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
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

// Nobody answers. Every replica decides by the default at the deadline, and one of them
// does it.
func TestTheDeadlineDecidesByDefault(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	decided := make(chan approval.Decision, 8)
	options := approvals.Options{Sessions: &fake{decided: decided}}
	first, _ := running(t, server, options)
	second, _ := running(t, server, options)
	for id, fallback := range map[string]string{"denied": "deny", "allowed": "allow"} {
		e := event(id, "s1")
		e.Default, e.Expires = fallback, approval.At(time.Now().Add(50*time.Millisecond))
		ask(t, first, e)
		if d := testkit.Receive(t, "the decision", decided); !d.TimedOut || d.Granted != (fallback == "allow") || d.DecidedBy != "timeout" {
			t.Errorf("the default %s: %+v", fallback, d)
		}
		for _, svc := range []*approvals.Service{first, second} {
			testkit.Eventually(t, "the replica lists nothing", func() bool {
				_, n, err := svc.Pending(t.Context(), approval.Filter{})
				return err == nil && n == 0
			})
		}
		_, err := second.Answer(t.Context(), id, approval.Answer{Option: "Allow"}, "ann")
		mustHave(t, err, wire.Gone, "the time for an answer ended")
	}
	if len(decided) != 0 {
		t.Errorf("it is decided again: %+v", <-decided)
	}
}

// The clock of a router is five minutes ahead of that of NATS: it waits no less than others, and takes
// answers.
func TestTheDeadlineIsByTheClockOfNATS(t *testing.T) {
	t.Parallel()
	decided := make(chan approval.Decision, 2)
	svc, _ := running(t, natstest.Server(t), approvals.Options{Sessions: &fake{decided: decided}})
	svc.SetTime(time.Now().Add(-5 * time.Minute))
	for id, lifetime := range map[string]time.Duration{"answered": time.Minute, "forgotten": 300 * time.Millisecond} {
		e := event(id, "s1")
		e.Default, e.Created, e.Expires = "allow", approval.At(svc.Now()), approval.At(svc.Now().Add(lifetime))
		ask(t, svc, e)
	}
	if d := testkit.Receive(t, "the decision by default", decided); !d.TimedOut {
		t.Errorf("decided: %+v", d)
	}
	if d, err := svc.Answer(t.Context(), "answered", approval.Answer{Option: "Deny"}, "ann"); err != nil || d.Granted {
		t.Errorf("the answer: %+v, %v", d, err)
	}
	if d := testkit.Receive(t, "the decision by ann", decided); d.TimedOut || d.Granted {
		t.Errorf("decided: %+v", d)
	}
}

// A router that starts decides what it did not see asked.
func TestARestartKeepsTheDeadline(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	e := event("a1", "s1")
	e.Expires = approval.At(time.Now().Add(-time.Millisecond))
	ask(t, service(t, server, approvals.Options{}), e)
	decided := make(chan approval.Decision, 1)
	running(t, server, approvals.Options{Sessions: &fake{decided: decided}})
	if d := testkit.Receive(t, "the decision", decided); !d.TimedOut {
		t.Errorf("it is decided by %+v", d)
	}
}

type told struct {
	event    *held.Event
	decision *approval.Decision
}

func await(svc *approvals.Service, e *held.Event, until time.Time) <-chan told {
	ch := make(chan told, 2)
	svc.Await(e, until, func(e *held.Event, d *approval.Decision) { ch <- told{e, d} })
	return ch
}

// Who waits is notified once, whichever replica the answer came to; with the data where it
// was granted.
func TestAwaitNotifiesOnce(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	here, stop := running(t, server, approvals.Options{})
	there := service(t, server, approvals.Options{})
	waits := map[string]<-chan told{}
	for id, option := range map[string]string{"yes": "Allow", "no": "Deny"} {
		e := ask(t, here, event(id, "s1"))
		waits[id] = await(here, e, time.Now().Add(time.Hour))
		if _, err := there.Answer(t.Context(), id, approval.Answer{Option: option}, "ann"); err != nil {
			t.Fatal(err)
		}
		got := testkit.Receive(t, "the decision", waits[id])
		if got.decision == nil || got.decision.Option != option || got.event.ID != id {
			t.Errorf("%s: notified of %+v, %+v", id, got.event, got.decision)
		}
		if option == "Allow" && string(got.event.Data) != data {
			t.Errorf("the data that was allowed is %q", got.event.Data)
		}
		late := testkit.Receive(t, "the decision", await(here, e, time.Now().Add(time.Hour)))
		if late.decision == nil || late.decision.Option != option {
			t.Errorf("%s: who comes later is notified of %+v", id, late.decision)
		}
	}
	stop()
	for id, wait := range waits {
		if len(wait) != 0 {
			t.Errorf("%s: notified again: %+v", id, <-wait)
		}
	}
}

// Without a decision, waiting ends with its time, or with the replica.
func TestAwaitEndsWithoutADecision(t *testing.T) {
	t.Parallel()
	svc, stop := running(t, natstest.Server(t), approvals.Options{})
	e := ask(t, svc, event("a1", "s1"))
	for sentence, until := range map[string]time.Duration{"a short wait": 5 * time.Millisecond, "no wait": 0} {
		if got := testkit.Receive(t, sentence, await(svc, e, time.Now().Add(until))); got.decision != nil || got.event.ID != "a1" {
			t.Errorf("%s: notified of %+v", sentence, got.decision)
		}
	}
	long := await(svc, e, time.Now().Add(time.Hour))
	stop()
	if got := testkit.Receive(t, "the end of the service", long); got.decision != nil {
		t.Errorf("at the end: notified of %+v", got.decision)
	}
	if len(long) != 0 {
		t.Error("notified twice")
	}
}

// TestAnEvictedWaiterKeepsNothing: an agent may send one event again and again. What evicted
// waiters hold is freed at once, not when their time comes.
func TestAnEvictedWaiterKeepsNothing(t *testing.T) {
	t.Parallel()
	svc, _ := running(t, natstest.Server(t), approvals.Options{})
	e := ask(t, svc, event("a1", "s1"))
	until := time.Now().Add(time.Hour)
	reply := weak.Make(evicted(t, svc, e, until))
	for range 64 {
		await(svc, e, until)
	}
	testkit.Eventually(t, "what the evicted waiter held is freed", func() bool { runtime.GC(); return reply.Value() == nil })
}

// evicted waits with a reply that the test must see freed.
func evicted(t *testing.T, svc *approvals.Service, r *held.Event, until time.Time) *[1 << 10]byte {
	t.Helper()
	reply := new([1 << 10]byte)
	svc.Await(r, until, func(*held.Event, *approval.Decision) { reply[0]++ })
	return reply
}

// "Allow always" is remembered before the agent goes on, which might ask again at once.
func TestRememberIsCalledBeforeTheWaiter(t *testing.T) {
	t.Parallel()
	remembered := make(chan string, 8)
	svc, _ := running(t, natstest.Server(t), approvals.Options{Sessions: &fake{remembered: remembered}})
	for id, option := range map[string]string{"once": "Allow", "always": "Allow always", "never": "Deny"} {
		e := event(id, "s1")
		e.Options = []string{"Allow", "Allow always", "Deny"}
		wait := await(svc, ask(t, svc, e), time.Now().Add(time.Hour))
		if _, err := svc.Answer(t.Context(), id, approval.Answer{Option: option}, "ann"); err != nil {
			t.Fatal(err)
		}
		testkit.Receive(t, "the decision", wait)
		n := len(remembered)
		for range n {
			if got := <-remembered; got != "always" {
				t.Errorf("%s is remembered", got)
			}
		}
		if (n > 0) != (id == "always") {
			t.Errorf("%s: remembered %d times when the waiter is notified", id, n)
		}
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

func TestLimits(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	svc := service(t, server, approvals.Options{MaxPerSession: 2, MaxOpen: 3})
	refused := func(e *held.Event, text string) {
		t.Helper()
		_, _, err := svc.Ask(t.Context(), e)
		mustHave(t, err, wire.Overloaded, text)
	}
	ask(t, svc, event("a1", "s1"))
	ask(t, svc, event("a2", "s1"))
	refused(event("a3", "s1"), "2 approval requests of this session are open")
	if _, asked, err := svc.Ask(t.Context(), event("a2", "s1")); asked || err != nil {
		t.Errorf("the request that is there: asked %v, %v", asked, err)
	}
	ask(t, svc, event("b1", "s2"))
	refused(event("b2", "s2"), "3 approval requests are open")
	if _, err := svc.Answer(t.Context(), "a1", approval.Answer{Option: "Deny"}, "ann"); err != nil {
		t.Fatal(err)
	}
	ask(t, svc, event("a3", "s1"))
}

// A proven agent leaves room for others, however many sessions it makes. What is decided
// counts no more among what is open, and what is dropped not at all.
func TestOneAgentCannotFillTheTable(t *testing.T) {
	t.Parallel()
	svc := service(t, natstest.Server(t), approvals.Options{MaxPerSession: 2, MaxOpen: 30})
	of := func(agent, id, session string) *held.Event {
		e := event(id, session)
		e.Emitter = agent
		return e
	}
	for _, n := range []string{"1", "2", "3"} {
		ask(t, svc, of("nats agent/coder", "a"+n, "s"+n))
	}
	_, _, err := svc.Ask(t.Context(), of("nats agent/coder", "a4", "s4"))
	mustHave(t, err, wire.Overloaded, "3 approval requests of this agent are open")
	ask(t, svc, of("nats agent/rival", "b1", "s1"))
	ask(t, svc, event("c1", "s5"))
	if _, err := svc.Answer(t.Context(), "a1", approval.Answer{Option: "Deny"}, "ann"); err != nil {
		t.Fatal(err)
	}
	ask(t, svc, of("nats agent/coder", "a4", "s4"))

	small := service(t, natstest.Server(t), approvals.Options{MaxKept: 100})
	ask(t, small, of("nats agent/coder", "a1", "s1"))
	_, _, err = small.Ask(t.Context(), of("nats agent/coder", "a2", "s2"))
	mustHave(t, err, wire.Overloaded, "of this agent are stored")
}

// What is listed, shown and sent to watchers is masked; what is decided on is not.
func TestWhatIsShownIsMasked(t *testing.T) {
	t.Parallel()
	svc, _ := running(t, natstest.Server(t), approvals.Options{Mask: func(r *approval.Record) { r.Prompt, r.Data = "masked", nil }})
	notices, stop := svc.Watch()
	defer stop()
	e := event("a1", "s1")
	if got := svc.Masked(e.Request); got.Prompt != "masked" || got.ID != "a1" || e.Prompt != "Deploy a1?" {
		t.Errorf("masked: %+v, of %q", got, e.Prompt)
	}
	stored := ask(t, svc, e)
	if stored.Prompt != "Deploy a1?" || string(stored.Data) != data {
		t.Errorf("it is stored as %+v", stored)
	}
	if n := testkit.Receive(t, "the notice", notices); n.Request.Prompt != "masked" || n.Decision != nil {
		t.Errorf("the notice is %+v", n)
	}
	list, total, err := svc.Pending(t.Context(), approval.Filter{Session: "s1"})
	if err != nil || total != 1 || list[0].Prompt != "masked" {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if r, err := svc.Get(t.Context(), "a1"); err != nil || r.Prompt != "masked" || r.Data != nil {
		t.Errorf("it is shown as %+v, %v", r, err)
	}
}

// The oldest is listed first, at every replica.
func TestPending(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	writer := service(t, server, approvals.Options{})
	reader, _ := running(t, server, approvals.Options{})
	base := time.Now()
	for id, age := range map[string]time.Duration{"young": 0, "oldest": 2 * time.Minute, "old": time.Minute} {
		e := event(id, "s1")
		e.Created = approval.At(base.Add(-age))
		ask(t, writer, e)
	}
	ask(t, writer, event("other", "s2"))
	for _, test := range []struct {
		filter approval.Filter
		total  int
		ids    string
	}{
		{approval.Filter{Session: "s1"}, 3, "oldest old young"},
		{approval.Filter{Session: "s1", Limit: 2}, 3, "oldest old"},
		{approval.Filter{Session: "s1", Newest: true}, 3, "young old oldest"},
		{approval.Filter{Session: "s1", Newest: true, Limit: 1}, 3, "young"},
		{approval.Filter{Session: "s1", Room: 1 << 20}, 3, "oldest old young"},
		{approval.Filter{Session: "s1", Room: 1}, 3, ""},
		{approval.Filter{Session: "s3"}, 0, ""},
		{approval.Filter{Limit: 1}, 4, "oldest"},
	} {
		list, total, err := reader.Pending(t.Context(), test.filter)
		var ids []string
		for _, q := range list {
			ids = append(ids, q.ID)
		}
		if got := strings.Join(ids, " "); err != nil || total != test.total || got != test.ids {
			t.Errorf("%+v: %d, %q, %v; want %d, %q", test.filter, total, got, err, test.total, test.ids)
		}
	}
}
