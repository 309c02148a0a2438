package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// What is kept of a session is bounded, whether it is open or decided; all events
// without a session are one.
func TestKeptQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Approvals: approvals.Options{MaxPerSession: 3}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	hook(t, ctx, nc, "decides", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","approval_timeout":0}`))
	hook(t, ctx, nc, "asks", `{"events":["tool:post"]}`, says(asks))
	send := func(name, id, session string) *nats.Msg {
		header := event(id, "Hook-Wait-Ms", "5000", "ce-type", name, "ce-subject", session)
		if name == "tool:post" {
			header["Hook-Wait-Ms"] = []string{"0"}
		}
		if session == "" {
			delete(header, "ce-subject")
		}
		return request(t, ctx, nc, "hooks.execute."+strings.ReplaceAll(name, ":", "."), header, `{}`)
	}
	for n := range 30 {
		if m := send("tool:pre", fmt.Sprint("e", n), "s1"); code(m) != "" {
			t.Fatalf("approval request %d was refused: %v", n, m.Header)
		}
	}
	if m := send("tool:pre", "e30", "s1"); code(m) != "429" || !strings.Contains(text(m), "30 approval requests of this session are stored") {
		t.Errorf("one more: %v %s", m.Header, m.Data)
	}
	if m := send("tool:pre", "e29", "s1"); code(m) != "" {
		t.Errorf("one that is kept: %v", m.Header)
	}
	if m := send("tool:pre", "e0", "s2"); code(m) != "" {
		t.Errorf("another session: %v", m.Header)
	}
	for n := range 3 {
		if m := send("tool:post", fmt.Sprint("b", n), ""); code(m) != "" {
			t.Fatalf("approval request %d without a session was refused: %v", n, m.Header)
		}
	}
	if m := send("tool:post", "b3", ""); code(m) != "429" {
		t.Errorf("a fourth one without a session: %v %s", m.Header, m.Data)
	}
	if m := send("tool:post", "b3", "s2"); code(m) != "" {
		t.Errorf("a session beside them: %v", m.Header)
	}
}

// What is kept in all is bounded in bytes.
func TestKeptBytesAreBounded(t *testing.T) {
	t.Parallel()
	b := natstest.Connect(t, natsx.Options{InProcess: natstest.Server(t)})
	ctx := testkit.Within(t, 30*time.Second)
	questions, err := b.OpenBucket(ctx, approvals.Bucket(b.Prefix(), 1))
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Open(ctx, b, 1)
	if err != nil {
		t.Fatal(err)
	}
	svc := approvals.New(b, questions, log, approvals.Options{MaxKept: 10 << 10})
	ask := func(id string) error {
		q := approval.Request{ID: id, Session: id, Event: "tool:pre", Hook: "asks", Expires: approval.At(time.Now().Add(time.Hour))}
		record := approval.Record{Request: q, Data: json.RawMessage(`"` + strings.Repeat("x", 6<<10) + `"`)}
		_, _, err := svc.Ask(ctx, &held.Event{Record: record, Verdict: verdict.Verdict{Action: verdict.Pending}})
		return err
	}
	for _, id := range []string{"a", "b", "a"} { // the last one is there
		if err := ask(id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := ask("c"); wire.CodeOf(err) != wire.Overloaded || !strings.Contains(err.Error(), "bytes of approval requests are stored") {
		t.Errorf("beyond the limit: %v", err)
	}
}

// An approval request that is too large for the server is asked without what hooks
// changed; where that is not enough it is refused.
func TestQuestionsThatDoNotFitTheServer(t *testing.T) {
	t.Parallel()
	s := plainServer(t, &server.Options{MaxPayload: 1 << 20})
	routertest.Start(t, nil, router.Options{Dispatch: dispatch.Options{MaxData: 900 << 10, PublishData: dispatch.PublishRedacted}, MaxReply: 900 << 10, Audit: auditlog.Options{Recorder: recorder.Options{Timeout: 10 * time.Second}}}, natsx.Options{URL: s.ClientURL()})
	nc := natstest.Dial(t, s.ClientURL())
	ctx := testkit.Within(t, 60*time.Second)
	required := listen(t, nc, "hooks.event.approval.required")
	long := strings.Repeat("x", 900<<10)
	for _, tt := range []struct {
		sentence       string
		data, said     int // KiB of the changed data, and of a message to the user
		code           string
		changes, asked bool
	}{
		{"all of it fits", 400, 10, "", true, true},
		{"it fits without the changes", 550, 10, "", false, true},
		{"it does not fit", 800, 300, "413", false, false},
	} {
		t.Run(tt.sentence, func(t *testing.T) {
			hook(t, ctx, nc, "rewrites", `{"events":["tool:pre"],"priority":-1}`, says(`{"action":"modify","data":{"c":"`+long[:tt.data<<10]+`"}}`))
			hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","user_message":"`+long[:tt.said<<10]+`"}`))
			m := request(t, ctx, nc, "hooks.execute.tool.pre", event(fmt.Sprint(tt.data), "Hook-Wait-Ms", "0"), `{"c":"y"}`)
			if code(m) != tt.code {
				t.Fatalf("refused with %q: %v", code(m), m.Header)
			}
			if !tt.asked {
				if m, err := required.NextMsg(10 * time.Millisecond); err == nil {
					t.Errorf("a person was asked: %.300s", m.Data)
				}
				return
			}
			q := openQuestion(t, ctx, required)
			record := decode[approval.Record](t, request(t, ctx, nc, "hooks.approval."+q.ID, nil, "").Data)
			if (len(record.Changes) > 0) != tt.changes || digest(record.Data) != q.DataSHA256 {
				t.Errorf("%d bytes of changes are shown, %d of data: %.200s", len(record.Changes), len(record.Data), record.Changes)
			}
		})
	}
}

// An event that is sent again joins its approval request, however many are open.
func TestAtTheLimitTheSameEventJoins(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Approvals: approvals.Options{MaxPerSession: 1}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	first := executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1"), `{}`)
	for _, retry := range []string{"0", "1"} {
		v := executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1", "Hook-Retry", retry), `{}`)
		if diff := cmp.Diff(first, v); diff != "" || v.Action != verdict.Pending {
			t.Errorf("sent again with Hook-Retry %s (-first +then):\n%s", retry, diff)
		}
	}
	if m := request(t, ctx, nc, "hooks.execute.tool.pre", event("e2", "Hook-Wait-Ms", "1"), `{}`); code(m) != "429" {
		t.Errorf("another event: %v %s", m.Header, m.Data)
	}
}

// An approval request keeps room for those who ask anew: whoever waits longest is let go.
func TestTheFirstOfTooManyWaitersIsLetGo(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(asks))
	required, told := listen(t, nc, "hooks.event.approval.required"), listen(t, nc, "hooks.result.tool.pre")
	first := execute(t, ctx, nc, event("e1"), `{}`)
	q := openQuestion(t, ctx, required)
	next(t, ctx, told) // it waits
	inbox := nats.NewInbox()
	replies := listen(t, nc, inbox+".*")
	const more = 64
	for n := range more {
		msg := &nats.Msg{Subject: "hooks.execute.tool.pre", Reply: fmt.Sprint(inbox, ".", n), Header: event("e1", "Hook-Retry", "1"), Data: []byte(`{}`)}
		if err := nc.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
	}
	if v := take(t, ctx, first); v.Action != verdict.Pending || v.Approval.ID != q.ID {
		t.Errorf("the first was told %+v %+v", v, v.Approval)
	}
	request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Allow once"}`)
	for range more {
		m := next(t, ctx, replies)
		if v, err := verdict.Parse(m.Data); err != nil || v.Action != verdict.Continue {
			t.Errorf("another was told %s %v", m.Data, m.Header)
		}
	}
}
