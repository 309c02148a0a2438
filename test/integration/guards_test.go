package integration

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// bucket is one of the router's buckets, as the store's own tools see it.
func bucket(t *testing.T, ctx context.Context, nc *nats.Conn, name string) jetstream.KeyValue {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// text is what a refusal says.
func text(m *nats.Msg) string { return m.Header.Get("Nats-Service-Error") }

// Decisions are kept for ever and approval requests are not: what was decided about an
// event's data never decides about other data that comes under its id later.
func TestAnOldDecisionDecidesNothingNew(t *testing.T) {
	t.Parallel()
	for sentence, tt := range map[string]struct{ hook, answer string }{
		"a person's":     {asks, `{"option":"Allow once"}`},
		"the time-out's": {`{"action":"ask_user","approval_timeout":0.1,"approval_default":"allow"}`, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{})
			nc := natstest.Conn(t, s)
			ctx := testkit.Within(t, 30*time.Second)
			hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(tt.hook))
			required := listen(t, nc, "hooks.event.approval.required")
			first := execute(t, ctx, nc, event("e1"), `{"command":"ls"}`)
			q := openQuestion(t, ctx, required)
			if tt.answer != "" {
				request(t, ctx, nc, "hooks.approve."+q.ID, nil, tt.answer)
			}
			if v := take(t, ctx, first); v.Action != verdict.Continue {
				t.Fatalf("at first %+v", v)
			}
			record := decode[approval.Record](t, request(t, ctx, nc, "hooks.approval."+q.ID, nil, "").Data)
			if err := bucket(t, ctx, nc, "hooks_approvals").Purge(ctx, q.ID); err != nil {
				t.Fatal(err)
			}
			for _, retry := range []string{"0", "1"} {
				testkit.Until(t, ctx, "the refusal says when it was decided", func() bool { // and not that it knows the data
					m := request(t, ctx, nc, "hooks.execute.tool.pre", event("e1", "Hook-Wait-Ms", "1000", "Hook-Retry", retry), `{"command":"rm"}`)
					if code(m) != "409" {
						t.Fatalf("other data under an old id, Hook-Retry %s: %v %s", retry, m.Header, m.Data)
					}
					return strings.Contains(text(m), record.Decided.String())
				})
			}
			if m, err := required.NextMsg(10 * time.Millisecond); err == nil {
				t.Errorf("asked again: %s", m.Data)
			}
		})
	}
}

// What stands where a decision should and is none denies, at once and for good.
func TestWhatIsNoDecisionDenies(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","approval_timeout":2,"approval_default":"allow"}`))
	required := listen(t, nc, "hooks.event.approval.required")
	const granted = `"option":"Allow","granted":true,"decided_by":"ann","decided":"2026-03-01T12:00:00.000Z"}`
	for n, body := range []string{
		`granted`, `{"kind":"approval.decided",`, `{}`, `[1]`,
		`{"kind":"approval.asked","approval_id":"ID",` + granted,
		`{"kind":"approval.decided","approval_id":"another",` + granted,
		`{"kind":"approval.decided",` + granted,
	} {
		waiting := execute(t, ctx, nc, event(fmt.Sprint("e", n)), `{}`)
		q := openQuestion(t, ctx, required)
		subject := "hooks.audit.decision." + q.ID
		if _, err := nc.RequestWithContext(ctx, subject, []byte(strings.ReplaceAll(body, "ID", q.ID))); err != nil {
			t.Fatal(err)
		}
		v := take(t, testkit.Within(t, 1500*time.Millisecond), waiting) // the approval request's time is longer
		if v.Action != verdict.Deny || v.Data != nil || v.Approval.DecidedBy != "error" || v.Approval.TimedOut {
			t.Errorf("%s: the agent was told %+v %+v", body, v, v.Approval)
		}
		if m := request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Allow"}`); code(m) != "409" {
			t.Errorf("%s: answered afterwards: %v %s", body, m.Header, m.Data)
		}
	}
	// Nobody tries to decide them when their time is over: only the last one's is news.
	appended := listen(t, nc, "hooks.audit.decision.*")
	last := execute(t, ctx, nc, event("last"), `{}`)
	q := openQuestion(t, ctx, required)
	if v := take(t, ctx, last); !v.Approval.TimedOut || v.Action != verdict.Continue {
		t.Errorf("the last one: %+v %+v", v, v.Approval)
	}
	for m, err := appended.NextMsg(10 * time.Millisecond); err == nil; m, err = appended.NextMsg(10 * time.Millisecond) {
		if m.Subject != "hooks.audit.decision."+q.ID {
			t.Errorf("decided again: %s", m.Subject)
		}
	}
}

// An "Allow always" belongs to the life of the session in which its event came.
func TestAllowAlwaysStaysInItsLife(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	called, proceed := make(chan struct{}, 8), make(chan struct{})
	hook(t, ctx, nc, "asks", `{"events":["tool:pre","session:end"],"timeout_ms":20000}`, func(*nats.Msg) []byte {
		called <- struct{}{}
		<-proceed
		return []byte(asks)
	})
	required := listen(t, nc, "hooks.event.approval.required")
	always := func(waiting <-chan verdict.Verdict, id string) {
		t.Helper()
		request(t, ctx, nc, "hooks.approve."+id, nil, `{"option":"Allow always"}`)
		if v := take(t, ctx, waiting); v.Action != verdict.Continue {
			t.Errorf("the answer does not hold for its own event: %+v", v)
		}
	}

	under := execute(t, ctx, nc, event("under way"), `{}`)
	take(t, ctx, called)
	request(t, ctx, nc, "hooks.session.end", nil, `{"session_id":"s1"}`)
	close(proceed)
	always(under, openQuestion(t, ctx, required).ID)
	if v := executed(t, nc, "tool:pre", event("e2", "Hook-Wait-Ms", "1"), `{}`); v.Action != verdict.Pending {
		t.Fatalf("the grant of an event that came before the end is remembered: %+v %+v", v, v.Approval)
	}
	openQuestion(t, ctx, required)

	ending := event("end", "Hook-Wait-Ms", "1", "ce-type", "session:end")
	if v := executed(t, nc, "session:end", ending, `{}`); v.Action != verdict.Pending {
		t.Fatalf("session:end: %+v", v)
	}
	request(t, ctx, nc, "hooks.approve."+openQuestion(t, ctx, required).ID, nil, `{"option":"Allow always"}`)
	if v := executed(t, nc, "tool:pre", event("e3", "Hook-Wait-Ms", "1"), `{}`); v.Action != verdict.Pending {
		t.Fatalf("the grant of session:end itself is remembered: %+v %+v", v, v.Approval)
	}
	always(execute(t, ctx, nc, event("e3"), `{}`), openQuestion(t, ctx, required).ID)
	if v := executed(t, nc, "tool:pre", event("e4", "Hook-Wait-Ms", "1"), `{}`); v.Action != verdict.Continue || !v.Approval.Cached {
		t.Errorf("in the new life it is not remembered: %+v %+v", v, v.Approval)
	}
	ending = event("end2", "Hook-Wait-Ms", "1", "ce-type", "session:end")
	if v := executed(t, nc, "session:end", ending, `{}`); v.Action != verdict.Continue || !v.Approval.Cached {
		t.Errorf("session:end itself is not in the session: %+v %+v", v, v.Approval)
	}
	if v := executed(t, nc, "tool:pre", event("e5", "Hook-Wait-Ms", "1"), `{}`); v.Action != verdict.Pending {
		t.Errorf("it outlived its session: %+v %+v", v, v.Approval)
	}
}

// An event that came at the moment of the end came before it; every bit of the
// times counts.
func TestWhatCameWithTheEndIsForgotten(t *testing.T) {
	t.Parallel()
	b := natstest.Connect(t, natsx.Options{InProcess: natstest.Server(t)})
	ctx := testkit.Within(t, 30*time.Second)
	states, err := b.OpenBucket(ctx, session.Bucket(b.Prefix(), 1))
	if err != nil {
		t.Fatal(err)
	}
	store := session.New(states, slog.New(slog.DiscardHandler))
	if err := store.End(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	ended, err := store.Get(ctx, "s1")
	if err != nil {
		t.Fatal(err)
	}
	for later, want := range map[time.Duration]bool{-1: false, 0: false, 1: true} {
		q := &held.Event{Arrived: ended.Ended.Add(later), Epoch: ended.Epoch}
		q.Request = approval.Request{ID: later.String(), Session: "s1", Hook: "asks", Prompt: later.String()}
		if err := store.Remember(ctx, q, approval.Decision{Granted: true, Option: "Allow always"}); err != nil {
			t.Fatal(err)
		}
		state, err := store.Get(ctx, "s1")
		if _, granted := state.Remembered(q); err != nil || granted != want {
			t.Errorf("what came %v after the end is remembered: %v, %v", later, granted, err)
		}
	}
}

// A rule that denies is above what people granted, and holds for an approval request that
// no router with the rule has stored.
func TestARuleThatDeniesHolds(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	_, stop := routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"durable":true}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1"), `{}`)
	first := openQuestion(t, ctx, required)
	executed(t, nc, "tool:pre", event("e2", "Hook-Wait-Ms", "1"), `{}`)
	request(t, ctx, nc, "hooks.approve."+openQuestion(t, ctx, required).ID, nil, `{"option":"Allow always"}`)
	if v := executed(t, nc, "tool:pre", event("e3"), `{}`); !v.Approval.Cached {
		t.Fatalf("not remembered: %+v", v)
	}
	stop()
	routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{Rules: approval.Rules{{Name: "never", Decision: "deny", Hook: "asks"}}}})
	for sentence, header := range map[string]nats.Header{
		"the stored approval request": event("e1", "Hook-Retry", "1"),
		"what was allowed":            event("e4"),
		"what a retry runs as":        event("e5", "Hook-Retry", "1"),
	} {
		if v := executed(t, nc, "tool:pre", header, `{}`); v.Action != verdict.Deny || v.Approval.DecidedBy != "rule never" || v.Data != nil {
			t.Errorf("%s: %+v %+v", sentence, v, v.Approval)
		}
	}
	if m := request(t, ctx, nc, "hooks.approve."+first.ID, nil, `{"option":"Allow once"}`); code(m) != "409" {
		t.Errorf("a person is above the rule: %v %s", m.Header, m.Data)
	}
}

// A session:end that was sent twice ends its session once: the answer to its question counts.
func TestASessionEndSentTwiceIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["session:end"]}`, says(asks))
	required := listen(t, nc, "hooks.event.approval.required")
	ending := func(wait, retry string) nats.Header {
		return event("end", "ce-type", "session:end", "Hook-Wait-Ms", wait, "Hook-Retry", retry)
	}
	for _, retry := range []string{"0", "0", "1"} {
		if v := executed(t, nc, "session:end", ending("1", retry), `{}`); v.Action != verdict.Pending {
			t.Fatalf("Hook-Retry %s: %+v %s", retry, v, v.Reason)
		}
	}
	if m := request(t, ctx, nc, "hooks.approve."+openQuestion(t, ctx, required).ID, nil, `{"option":"Allow once"}`); code(m) != "" {
		t.Fatalf("the answer is refused: %v %s", m.Header, m.Data)
	}
	for _, retry := range []string{"0", "1"} {
		if v := executed(t, nc, "session:end", ending("5000", retry), `{}`); v.Action != verdict.Continue {
			t.Errorf("Hook-Retry %s, once allowed: %+v", retry, v)
		}
	}
}
