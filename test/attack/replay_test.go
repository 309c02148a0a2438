package attack

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// replays is how often an attacker sends an approved event again.
const replays = 50

// approved is a bus on which a person has answered "Allow once" to the event "deploy" of the
// session s1. send sends that event again, as Hook-Retry says, and returns what it got.
func approved(t *testing.T, o router.Options) (s nats.InProcessConnProvider, person *approver.Approver, send func(retry bool) (verdict.Verdict, string)) {
	t.Helper()
	s = natstest.Server(t)
	routertest.Start(t, s, o, natsx.Options{Inbox: "_INBOX_router"})
	guard(t, s, worker.Registration{ID: "guard"}, denies)
	attacker, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	wait := "1"
	send = func(retry bool) (v verdict.Verdict, code string) {
		t.Helper()
		header := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"deploy"}, "ce-source": {"/attacker"}, "ce-type": {"tool:pre"}, "ce-subject": {"s1"}, "Hook-Wait-Ms": {wait}}
		if retry {
			header["Hook-Retry"] = []string{"1"}
		}
		m, err := attacker.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.tool.pre", Header: header, Data: command("deploy")})
		if err != nil {
			t.Fatal(err)
		}
		if code = m.Header.Get("Nats-Service-Error-Code"); code != "" {
			return v, code
		}
		if err := json.Unmarshal(m.Data, &v); err != nil {
			t.Fatal(err)
		}
		return v, ""
	}
	v, _ := send(false)
	if v.Action != verdict.Pending {
		t.Fatalf("%+v; want an approval request", v)
	}
	wait = "20000"
	person = approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
	if _, err := person.Answer(ctx, v.Approval.ID, approval.Answer{Option: "Allow once"}); err != nil {
		t.Fatal(err)
	}
	return s, person, send
}

// logged counts the replays of the audit log by action.
func logged(t *testing.T, s nats.InProcessConnProvider) map[string]int {
	t.Helper()
	ctx := testkit.Within(t, testkit.Patience)
	js, err := jetstream.New(natstest.Conn(t, s))
	if err != nil {
		t.Fatal(err)
	}
	records, err := js.OrderedConsumer(ctx, "HOOKS_AUDIT", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"hooks.audit.w.>"}})
	if err != nil {
		t.Fatal(err)
	}
	actions := map[string]int{}
	for {
		m, err := records.Next(jetstream.FetchMaxWait(testkit.Patience))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := audit.Lines(m.Data())
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			var record struct {
				Kind   audit.Kind
				Action string
			}
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatal(err)
			}
			if record.Kind == audit.ApprovalReplayed {
				actions[record.Action]++
			}
		}
		if at, err := m.Metadata(); err != nil || at.NumPending == 0 {
			return actions
		}
	}
}

// TestAnApprovalIsNotReplayed: an agent sends an event that was allowed once again, with
// the same id, for as long as it likes.
func TestAnApprovalIsNotReplayed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		window time.Duration
		void   func(*testing.T, nats.InProcessConnProvider, *approver.Approver)
	}{
		"after the session was revoked": {void: func(t *testing.T, _ nats.InProcessConnProvider, person *approver.Approver) {
			if _, err := person.Revoke(testkit.Within(t, testkit.Patience), "s1", "", ""); err != nil {
				t.Fatal(err)
			}
		}},
		"after the session ended": {void: func(t *testing.T, s nats.InProcessConnProvider, _ *approver.Approver) {
			if err := client(t, s).EndSession(testkit.Within(t, testkit.Patience)); err != nil {
				t.Fatal(err)
			}
		}},
		"after the window": {window: time.Nanosecond, void: func(*testing.T, nats.InProcessConnProvider, *approver.Approver) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, person, send := approved(t, router.Options{Dispatch: dispatch.Options{ReplayWindow: c.window}})
			if c.window == 0 {
				if v, code := send(true); v.Action != verdict.Continue {
					t.Fatalf("an agent that lost its router: %+v %s", v, code)
				}
			}
			c.void(t, s, person)
			for i := range replays {
				if v, code := send(i%2 == 0); v.Action == verdict.Continue || code != "410" {
					t.Fatalf("replay %d: %+v, code %q; want 410", i, v, code)
				}
			}
		})
	}
}

// TestARevocationHoldsForWhoWaits: a person allows what was asked before the session was revoked or
// ended. Neither the agent that waits nor one that sends the event again is permitted.
func TestARevocationHoldsForWhoWaits(t *testing.T) {
	t.Parallel()
	for name, void := range map[string]func(*testing.T, nats.InProcessConnProvider, *approver.Approver) error{
		"revoked": func(t *testing.T, _ nats.InProcessConnProvider, person *approver.Approver) error {
			_, err := person.Revoke(testkit.Within(t, testkit.Patience), "s1", "", "")
			return err
		},
		"ended": func(t *testing.T, s nats.InProcessConnProvider, _ *approver.Approver) error {
			return client(t, s).EndSession(testkit.Within(t, testkit.Patience))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
			guard(t, s, worker.Registration{ID: "guard"}, denies)
			attacker, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
			send := func(wait string) (v verdict.Verdict) {
				header := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"deploy"}, "ce-source": {"/attacker"}, "ce-type": {"tool:pre"}, "ce-subject": {"s1"}, "Hook-Wait-Ms": {wait}, "Hook-Retry": {"1"}}
				m, err := attacker.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.tool.pre", Header: header, Data: command("deploy")})
				if err == nil {
					err = json.Unmarshal(m.Data, &v)
				}
				if err != nil {
					t.Error(err)
				}
				return v
			}
			asked := send("1")
			waits := make(chan verdict.Verdict, 1)
			go func() { waits <- send("3000") }()
			person := approver.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}))
			if err := void(t, s, person); err != nil {
				t.Fatal(err)
			}
			if _, err := person.Answer(ctx, asked.Approval.ID, approval.Answer{Option: "Allow once"}); err == nil {
				t.Error("the person is not told that it is too late")
			}
			if v := <-waits; v.Action == verdict.Continue {
				t.Errorf("who waits got %+v", v)
			}
			if v := send("1"); v.Action != verdict.Pending || v.Approval.ID == asked.Approval.ID {
				t.Errorf("who sends it again got %+v; want a question of its own", v)
			}
		})
	}
}

// TestReplaysAreInTheLog: as long as an approval holds, each permission is on record.
func TestReplaysAreInTheLog(t *testing.T) {
	t.Parallel()
	s, _, send := approved(t, router.Options{})
	for i := range replays {
		if v, code := send(i%2 == 0); v.Action != verdict.Continue || v.Approval == nil || v.Approval.Option != "Allow once" {
			t.Fatalf("replay %d: %+v %s; want the answer", i, v, code)
		}
	}
	if got := logged(t, s); got["served"] != replays {
		t.Errorf("the log has %v; want %d served", got, replays)
	}
}
