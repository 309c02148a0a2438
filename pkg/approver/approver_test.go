package approver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// start starts a fakeService on a server of its own and connects an approver.
func start(t *testing.T, o hookrouter.Options) (*fakeService, *approver.Approver) {
	t.Helper()
	s := natstest.Server(t)
	d := serviceOn(t, natstest.Conn(t, s))
	if o.Conn == nil {
		o.Conn = natstest.Conn(t, s)
	}
	return d, connect(t, o)
}

func serviceOn(t *testing.T, nc *nats.Conn) *fakeService {
	t.Helper()
	b, err := natsx.New(nc, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openService(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

func connect(t *testing.T, o hookrouter.Options) *approver.Approver {
	t.Helper()
	return approver.New(natstest.Client(t, o))
}

func TestPendingListsTheOldestAndCountsAll(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	for _, id := range []string{"q1", "q2", "q3"} {
		d.ask(id, false)
	}
	d.decide("q1", approval.Decision{Granted: true}, false)
	for sentence, c := range map[string]struct {
		filter approval.Filter
		fit    int
		ids    []string
		total  int
		body   string
	}{
		"all of them":                   {approval.Filter{}, 0, []string{"q2", "q3"}, 2, ""},
		"as many as fit":                {approval.Filter{}, 1, []string{"q2"}, 2, ""},
		"those of a session":            {approval.Filter{Session: "s1", Limit: 9}, 0, []string{"q2", "q3"}, 2, `{"session_id":"s1","limit":9}`},
		"none of a session without any": {approval.Filter{Session: "s2"}, 0, nil, 0, `{"session_id":"s2"}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			d.mu.Lock()
			d.fit = c.fit
			d.mu.Unlock()
			list, total, err := a.Pending(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, q := range list {
				ids = append(ids, q.ID)
			}
			if diff := cmp.Diff(c.ids, ids); diff != "" || total != c.total {
				t.Errorf("total %d, want %d; ids (-want +got):\n%s", total, c.total, diff)
			}
			if body := d.body("hooks.approvals"); body != c.body {
				t.Errorf("body %q; want %q", body, c.body)
			}
		})
	}
}

func TestGetKeepsTheBytesOfTheData(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	d.ask("q1", false)
	r, err := a.Get(t.Context(), "q1")
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Data) != `{"n":9007199254740993}` || approval.Digest(r.Data) != r.DataSHA256 || r.ToolName != "Deploy" || r.Decision != nil || !r.Created.Equal(created) {
		t.Errorf("record %+v", r)
	}
	d.decide("q1", approval.Decision{Option: "Deny", DecidedBy: "ada"}, false)
	if r, err = a.Get(t.Context(), "q1"); err != nil || r.Decision == nil || r.DecidedBy != "ada" || r.Option != "Deny" {
		t.Errorf("record %+v, %v; want the decision", r, err)
	}
}

func TestAnswer(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	d.ask("q1", false)
	d.ask("q2", false)
	digest := approval.Digest([]byte(`{"n":9007199254740993}`))
	for _, step := range []struct {
		sentence, id string
		answer       approval.Answer
		option       string
		code         int
		says         string
	}{
		{"an option that is not offered", "q1", approval.Answer{Option: "Maybe"}, "", 400, `"Maybe"`},
		{"an answer to other data", "q1", approval.Answer{Option: "Deny", DataSHA256: "00"}, "", 409, "other data"},
		{"an offered option in another case", "q1", approval.Answer{Option: "allow ONCE", By: "me", Note: "fine", DataSHA256: digest}, "Allow once", 0, ""},
		{"a second answer", "q1", approval.Answer{Option: "Deny"}, "", 409, `"Allow once" by ada`},
		{"a free text", "q2", approval.Answer{Option: "Later", FreeText: true}, "Later", 0, ""},
		{"an unknown approval request", "q9", approval.Answer{Option: "Deny"}, "", 404, "answer approval q9: there is no approval q9"},
	} {
		option, err := a.Answer(t.Context(), step.id, step.answer)
		if option != step.option || wire.CodeOf(err) != step.code || step.says != "" && !strings.Contains(err.Error(), step.says) {
			t.Errorf("%s: %q, %v; want %q, %d, %q", step.sentence, option, err, step.option, step.code, step.says)
		}
	}
	r, err := a.Get(t.Context(), "q1")
	if err != nil || !r.Granted || r.ClaimedBy != "me" || r.Note != "fine" {
		t.Errorf("record %+v, %v", r.Decision, err)
	}
}

func TestAnIDThatIsNoTokenNeverLeaves(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	for _, id := range []string{"", "a.b", "*", ">", "a b", "é", strings.Repeat("a", 65)} {
		_, err := a.Answer(t.Context(), id, approval.Answer{Option: "Deny"})
		_, err2 := a.Get(t.Context(), id)
		for _, err := range []error{err, err2} {
			if err == nil || !strings.Contains(err.Error(), "list the approvals") || wire.CodeOf(err) != 0 {
				t.Errorf("id %q: %v", id, err)
			}
		}
	}
	if n := len(d.bodies); n != 0 {
		t.Errorf("%d requests arrived; want none", n)
	}
}

func TestSessionAndRevoke(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	info, err := a.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	want := approver.SessionInfo{
		ID: "s1", Turn: 2, InjectedTokens: 250, Budget: 10000, SizeLimit: 10240,
		Injections: []approver.Injection{{Event: "tool:post", Hook: "lint", Bytes: 1000, Tokens: 250, Time: "2126-01-02T03:04:05.000Z"}},
		Grants:     []approver.Grant{{Hook: "deploy-guard", Prompt: "Deploy?", By: "ada", Granted: "2126-01-02T03:04:05.000Z", ApprovalID: "q1"}},
	}
	if diff := cmp.Diff(want, info); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	if _, err := a.Session(t.Context(), "s2"); wire.CodeOf(err) != wire.NotFound || !strings.Contains(err.Error(), `show session "s2"`) {
		t.Errorf("%v; want 404", err)
	}
	n, err := a.Revoke(t.Context(), "s1", "deploy-guard", "Deploy?")
	if n != 1 || err != nil {
		t.Errorf("revoked %d, %v", n, err)
	}
	if body, want := d.body("hooks.session.revoke"), `{"session_id":"s1","hook":"deploy-guard","prompt":"Deploy?"}`; body != want {
		t.Errorf("body %s; want %s", body, want)
	}
}

func TestWhatPassesIsWaitedFor(t *testing.T) {
	s := natstest.Server(t)
	nc := natstest.Conn(t, s)
	d, a := serviceOn(t, natstest.Conn(t, s)), connect(t, hookrouter.Options{Conn: nc})
	d.ask("q1", false)
	d.fail(wire.Errorf(wire.Unavailable, "no storage"), wire.Errorf(wire.Unavailable, "no storage"))
	if option, err := a.Answer(t.Context(), "q1", approval.Answer{Option: "Deny"}); option != "Deny" || err != nil {
		t.Errorf("%q, %v; want it accepted after the router is back", option, err)
	}
	hasty := connect(t, hookrouter.Options{Conn: nc, Patience: -1})
	d.fail(wire.Errorf(wire.Unavailable, "no storage"))
	if _, err := hasty.Get(t.Context(), "q1"); wire.CodeOf(err) != wire.Unavailable {
		t.Errorf("%v; want 503 at once", err)
	}
	nobody := connect(t, hookrouter.Options{Conn: nc, Prefix: "other", Patience: -1})
	if _, _, err := nobody.Pending(t.Context(), approval.Filter{}); !errors.Is(err, hookrouter.ErrNoRouter) || !strings.Contains(err.Error(), "other.approvals") {
		t.Errorf("%v; want no router on other.approvals", err)
	}
}

func TestALostConnectionIsNoAnswer(t *testing.T) {
	s := natstest.Listening(t)
	nc := natstest.Conn(t, s)
	taken := make(chan struct{})
	sub, err := nc.Subscribe("hooks.approve.q1", func(*nats.Msg) { close(taken) }) // never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	a := connect(t, hookrouter.Options{URL: s.ClientURL()})
	done := make(chan error, 1)
	go func() {
		_, err := a.Answer(context.Background(), "q1", approval.Answer{Option: "Deny"})
		done <- err
	}()
	<-taken
	s.Stop()
	select {
	case err := <-done:
		if !errors.Is(err, hookrouter.ErrConnectionLost) {
			t.Errorf("%v; want that the connection was lost", err)
		}
	case <-time.After(patience):
		t.Error("still waiting after the server stopped")
	}
}

func TestOnlyAcceptedIsAccepted(t *testing.T) {
	s := natstest.Server(t)
	nc := natstest.Conn(t, s)
	sub, err := nc.Subscribe("hooks.approve.q1", func(m *nats.Msg) { natstest.Respond(m, nil, []byte(`{"option":"Deny"}`)) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	a := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)})
	if option, err := a.Answer(t.Context(), "q1", approval.Answer{Option: "Deny"}); option != "" || err == nil {
		t.Errorf("%q, %v; want an error", option, err)
	}
}
