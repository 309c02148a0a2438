package service_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// The subject proves the account of an imported request, whatever its headers say, and the reply goes
// to that account, whatever the reply subject is.
func TestAnImportedRequest(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	conn, err := natsx.Connect(natsx.Options{InProcess: s, Prefix: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	srv, err := service.Start(conn, "test", "1.0.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Stop(context.WithoutCancel(t.Context())) })
	seen := make(chan *service.Request, 8)
	answer := func(_ context.Context, r *service.Request) error {
		seen <- r
		return r.Reply(nil, []byte("answered"))
	}
	if _, err := srv.Add(service.Endpoint{Name: "execute", Subject: "test.execute.>", Imported: true, Handle: answer}); err != nil {
		t.Fatal(err)
	}
	sender := natstest.Conn(t, s)
	replies, err := sender.SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	header := nats.Header{"Nats-Request-Info": {`{"acc":"OTHER"}`}}
	for _, reply := range []string{"test.register.guard", "other", "_INBOX.own.x", "_INBOX_router.x"} {
		if err := sender.PublishMsg(&nats.Msg{Subject: "test.from.ACCOUNT.execute.tool.pre", Reply: reply, Header: header}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]bool{"test.to.ACCOUNT._INBOX.own.x": true, "test.to.ACCOUNT._INBOX_router.x": true}
	for len(want) > 0 {
		m, err := replies.NextMsg(testkit.Patience)
		if err != nil {
			t.Fatal(err)
		}
		if m.Header.Get("Nats-Request-Info") == "" && !want[m.Subject] { // not a request
			t.Errorf("a reply goes to %s", m.Subject)
		}
		delete(want, m.Subject)
	}
	for range 2 {
		r := testkit.Receive(t, "the request", seen)
		if who, err := r.Sender(1); r.Subject != "test.execute.tool.pre" || who.Account != "ACCOUNT" || err != nil {
			t.Errorf("%s: it comes from %+v, %v", r.Subject, who, err)
		}
	}
	if len(seen) > 0 || srv.Dropped() != 2 {
		t.Errorf("%d more requests, %d dropped, want none and 2", len(seen), srv.Dropped())
	}
}
