package integration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// asks is a hook that asks a person.
const asks = `{"action":"ask_user","approval_prompt":"Deploy?","approval_options":["Allow once","Allow always","Deny"],"reason":"it is production"}`

// event is the header of an event of a session that a person may be asked about.
func event(id string, more ...string) nats.Header {
	h := nats.Header{
		"ce-specversion": {"1.0"}, "ce-id": {id}, "ce-source": {"/coder"}, "ce-type": {"tool:pre"}, "ce-subject": {"s1"},
	}
	for i := 0; i < len(more); i += 2 {
		h[more[i]] = []string{more[i+1]}
	}
	return h
}

// execute sends an event whose verdict must not be waited for here.
func execute(t *testing.T, ctx context.Context, nc *nats.Conn, header nats.Header, body string) <-chan verdict.Verdict {
	t.Helper()
	got := make(chan verdict.Verdict, 1)
	go func() {
		msg, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.execute.tool.pre", Header: header, Data: []byte(body)})
		if err != nil {
			t.Errorf("execute: %v", err)
			return
		}
		v, err := verdict.Parse(msg.Data)
		if err != nil {
			t.Errorf("execute: %v: %s %v", err, msg.Data, msg.Header)
			return
		}
		got <- v
	}()
	return got
}

// openQuestion waits until an approval request is announced and returns it.
func openQuestion(t *testing.T, ctx context.Context, sub *nats.Subscription) approval.Request {
	t.Helper()
	return decode[approval.Request](t, next(t, ctx, sub).Data)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// One approval request from its start to its end, as watchers, the approver and the agent
// see it.
func TestAQuestionIsAskedAndAnswered(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "rewrites", `{"events":["tool:pre"],"priority":1}`,
		says(`{"action":"modify","data":{"tool_name":"Bash", "n":9007199254740993,"tool_input":{"command":"deploy --dry-run"}}}`))
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"priority":2,"name":"Release Guard"}`, says(asks))
	watched := make(chan *nats.Msg, 8)
	hook(t, ctx, nc, "watches", `{"events":["approval:*"],"on_failure":"deny","durable":false}`, func(m *nats.Msg) []byte { watched <- m; return []byte(`{"action":"deny"}`) })
	required, granted := listen(t, nc, "hooks.event.approval.required"), listen(t, nc, "hooks.event.approval.granted")
	notified, resulted := listen(t, nc, "hooks.event.user.notification"), listen(t, nc, "hooks.result.tool.pre")

	answer := execute(t, ctx, nc, event("e1"), `{"tool_name":"Bash","n":9007199254740993,"tool_input":{"command":"deploy"}}`)
	q := openQuestion(t, ctx, required)
	if got := decode[[]approval.Request](t, request(t, ctx, nc, "hooks.approvals", nil, "").Data); !cmp.Equal(got, []approval.Request{q}) {
		t.Errorf("announced is %+v, listed %+v", q, got)
	}
	want := approval.Request{
		ID: q.ID, Session: "s1", Event: "tool:pre", Hook: "Release Guard", Prompt: "Deploy?",
		Options: []string{"Allow once", "Allow always", "Deny"}, Default: "deny", Created: q.Created, Expires: q.Expires, DataSHA256: q.DataSHA256,
	}
	if diff := cmp.Diff(want, q); diff != "" || q.Expires.Sub(q.Created.Time) != 300*time.Second {
		t.Errorf("approval request (-want +got):\n%s", diff)
	}
	record := decode[approval.Record](t, request(t, ctx, nc, "hooks.approval."+q.ID, nil, "").Data)
	if record.Agent != "/coder" || record.ToolName != "Bash" || record.Reason != "it is production" || record.HookID != "asks" || record.EventID != "e1" || record.Decision != nil {
		t.Errorf("record %+v", record)
	}
	if digest(record.Data) != q.DataSHA256 || !strings.Contains(string(record.Data), `"n":9007199254740993`) {
		t.Errorf("the data is %s, its digest %s", record.Data, q.DataSHA256)
	}
	if want := `[{"op":"replace","path":"/tool_input/command","value":"deploy --dry-run","old":"deploy"}]`; string(record.Changes) != want {
		t.Errorf("changes %s, want %s", record.Changes, want)
	}
	if m := next(t, ctx, notified); !strings.Contains(string(m.Data), `"notification_type":"approval_required"`) {
		t.Errorf("notification %s", m.Data)
	}
	if m := next(t, ctx, resulted); !strings.Contains(string(m.Data), `"approval_id":"`+q.ID+`"`) || !strings.Contains(string(m.Data), `"action":"ask_user"`) {
		t.Errorf("result %s", m.Data)
	}

	reply := request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"allow ONCE","by":"ann","note":"ok","data_sha256":"`+q.DataSHA256+`"}`)
	if string(reply.Data) != `{"status":"accepted","option":"Allow once"}` {
		t.Errorf("accepted as %s %v", reply.Data, reply.Header)
	}
	v := take(t, ctx, answer)
	if v.Action != verdict.Continue || string(v.Data) != string(record.Data) || v.Approval.Option != "Allow once" ||
		v.Approval.DecidedBy != "unauthenticated" || v.Approval.DataSHA256 != digest(v.Data) || v.Approval.Cached || v.Approval.TimedOut {
		t.Errorf("verdict %+v, approval %+v", v, v.Approval)
	}
	if m := next(t, ctx, granted); !strings.Contains(string(m.Data), `"claimed_by":"ann"`) || m.Header.Get("ce-subject") != "s1" {
		t.Errorf("granted %s", m.Data)
	}
	for range 2 { // a guard of the router's own events is told, not asked
		if m := take(t, ctx, watched); m.Header.Get("Hook-Mode") != "observe" || m.Reply != "" {
			t.Errorf("the watching hook was called with %v, reply %q", m.Header, m.Reply)
		}
	}
	if got := decode[[]approval.Request](t, request(t, ctx, nc, "hooks.approvals", nil, "").Data); len(got) != 0 {
		t.Errorf("still listed: %+v", got)
	}
	record = decode[approval.Record](t, request(t, ctx, nc, "hooks.approval."+q.ID, nil, "").Data)
	if record.Decision == nil || record.Option != "Allow once" || record.ClaimedBy != "ann" || record.Note != "ok" || record.DecidedBy != "unauthenticated" {
		t.Errorf("record after the decision %+v", record.Decision)
	}
}

// Many answer at the same time, on three replicas: one wins, and all others are
// told who did.
func TestOneAnswerWins(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	for range 3 {
		routertest.Start(t, s, router.Options{})
	}
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	decisions := listen(t, nc, "hooks.event.approval.*")
	rounds := testkit.Volume(t, 3, 10, 100)
	for n := range rounds {
		first := execute(t, ctx, nc, event(fmt.Sprint("e", n)), `{}`)
		q := openQuestion(t, ctx, required)
		again := execute(t, ctx, nc, event(fmt.Sprint("e", n), "Hook-Retry", "1"), `{}`)
		const deciders = 8
		replies := make([]*nats.Msg, deciders)
		var wg sync.WaitGroup
		for i := range deciders {
			option := []string{"Allow once", "Deny"}[i%2]
			wg.Go(func() {
				replies[i] = request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"`+option+`","by":"`+fmt.Sprint(i)+`"}`)
			})
		}
		wg.Wait()
		won := ""
		for i, m := range replies {
			switch code(m) {
			case "":
				if won != "" {
					t.Errorf("%s was accepted and so was %s", won, m.Data)
				}
				won = []string{"Allow once", "Deny"}[i%2]
			case "409":
			default:
				t.Errorf("refused with %v", m.Header)
			}
		}
		for _, m := range replies {
			if text := m.Header.Get("Nats-Service-Error"); code(m) != "" && !strings.Contains(text, fmt.Sprintf("%q", won)) {
				t.Errorf("%s does not name the winner %s", text, won)
			}
		}
		for _, v := range []verdict.Verdict{take(t, ctx, first), take(t, ctx, again)} {
			if v.Approval == nil || v.Approval.Option != won || (v.Action == verdict.Continue) != (won == "Allow once") {
				t.Errorf("the agent was told %+v %+v, the winner is %q", v, v.Approval, won)
			}
		}
	}
	counts := map[string]int{}
	for range 2 * rounds {
		counts[next(t, ctx, decisions).Header.Get("ce-type")]++
	}
	if counts["approval:required"] != rounds || counts["approval:granted"]+counts["approval:denied"] != rounds {
		t.Errorf("announced %v in %d rounds", counts, rounds)
	}
}

// The same event has one approval request, however often it is sent and whoever answers;
// with other data it is refused.
func TestTheSameEventHasOneQuestion(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	calls := make(chan struct{}, 16)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, func(*nats.Msg) []byte { calls <- struct{}{}; return []byte(asks) })
	required := listen(t, nc, "hooks.event.approval.required")
	first := execute(t, ctx, nc, event("e1", "Hook-Wait-Ms", "1"), `{"a":1}`)
	q := openQuestion(t, ctx, required)
	if v := take(t, ctx, first); v.Action != verdict.Pending || v.Approval.ID != q.ID || v.Data != nil {
		t.Errorf("first %+v %+v", v, v.Approval)
	}
	take(t, ctx, calls)
	for range 4 { // joined: no hook is called
		if v := take(t, ctx, execute(t, ctx, nc, event("e1", "Hook-Wait-Ms", "1", "Hook-Retry", "1"), `{"a":1}`)); v.Action != verdict.Pending || v.Approval.ID != q.ID {
			t.Errorf("retried %+v %+v", v, v.Approval)
		}
	}
	if len(calls) != 0 {
		t.Errorf("the hook was called %d times more", len(calls))
	}
	if v := take(t, ctx, execute(t, ctx, nc, event("e1", "Hook-Wait-Ms", "1"), `{"a":1}`)); v.Action != verdict.Pending || v.Approval.ID != q.ID || v.Approval.Expires != q.Expires.String() {
		t.Errorf("sent anew %+v %+v", v, v.Approval)
	}
	take(t, ctx, calls) // without Hook-Retry it is
	for _, retry := range []string{"0", "1"} {
		m := request(t, ctx, nc, "hooks.execute.tool.pre", event("e1", "Hook-Retry", retry), `{"a":2}`)
		if code(m) != "409" || !strings.Contains(m.Header.Get("Nats-Service-Error"), "other data") {
			t.Errorf("other data, Hook-Retry %s: %v %s", retry, m.Header, m.Data)
		}
	}
	request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Deny"}`)
	for _, header := range []nats.Header{event("e1", "Hook-Retry", "1"), event("e1")} {
		if v := take(t, ctx, execute(t, ctx, nc, header, `{"a":1}`)); v.Action != verdict.Deny || v.Reason != "User denied: Deploy?" {
			t.Errorf("afterwards %+v", v)
		}
	}
	if m, err := required.NextMsg(10 * time.Millisecond); err == nil {
		t.Errorf("asked again: %s", m.Data)
	}
	// Another session, or another event, is another approval request.
	other := event("e1", "Hook-Wait-Ms", "1")
	other["ce-subject"] = []string{"s2"}
	if v := take(t, ctx, execute(t, ctx, nc, other, `{"a":2}`)); v.Action != verdict.Pending || v.Approval.ID == q.ID {
		t.Errorf("of another session %+v %+v", v, v.Approval)
	}
}

// A drained router lets go of those who wait: they are told that nothing is
// decided, and the next router answers them.
func TestADrainedRouterLetsWaitingAgentsGo(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	_, stop := routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"durable":true}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	waiting := execute(t, ctx, nc, event("e1"), `{}`)
	q := openQuestion(t, ctx, required)
	stop()
	if v := take(t, ctx, waiting); v.Action != verdict.Pending {
		t.Errorf("told %+v", v)
	}
	routertest.Start(t, s, router.Options{})
	waiting = execute(t, ctx, nc, event("e1", "Hook-Retry", "1"), `{}`)
	list := decode[[]approval.Request](t, request(t, ctx, nc, "hooks.approvals", nil, "").Data)
	if len(list) != 1 || !cmp.Equal(list[0], q) {
		t.Errorf("the next router lists %+v, it was %+v", list, q)
	}
	request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Allow once"}`)
	if v := take(t, ctx, waiting); v.Action != verdict.Continue {
		t.Errorf("then %+v", v)
	}
}

// What is decided while no router lives is decided by the first that does: the
// deadline stands in the approval request.
func TestADeadlineOutlivesTheRouter(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	_, stop := routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"durable":true}`, says(`{"action":"ask_user","approval_timeout":0.3,"approval_default":"allow"}`))
	required := listen(t, nc, "hooks.event.approval.required")
	waiting := execute(t, ctx, nc, event("e1", "Hook-Wait-Ms", "1"), `{"a":1}`)
	q := openQuestion(t, ctx, required)
	take(t, ctx, waiting)
	stop()
	<-time.After(time.Until(q.Expires.Time))
	routertest.Start(t, s, router.Options{})
	v := take(t, ctx, execute(t, ctx, nc, event("e1", "Hook-Retry", "1"), `{"a":1}`))
	if v.Action != verdict.Continue || !v.Approval.TimedOut || v.Approval.DecidedBy != "timeout" || string(v.Data) == "" {
		t.Errorf("verdict %+v %+v", v, v.Approval)
	}
	m := request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Deny"}`)
	if code(m) != "410" || !strings.Contains(m.Header.Get("Nats-Service-Error"), "the default applies, which is to allow") {
		t.Errorf("late: %v %s", m.Header, m.Data)
	}
}
