package attack

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// heap is what is in use, in bytes.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// What waits for a person keeps neither the headers that no router knows, nor a copy of its texts
// for each request that waits.
func TestWhatWaitsKeepsLittle(t *testing.T) { // not parallel: it measures memory
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	hook(t, s, worker.Registration{ID: "asks", Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (worker.Result, error) {
		r, err := worker.Ask("Run?")
		r.UserMessage = strings.Repeat("m", 8000)
		return r, err
	})
	const events, waiting = 40, 20
	nc, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	send := func(event int, wait string, retry ...string) {
		t.Helper()
		header := nats.Header{
			"ce-specversion": {"1.0"}, "ce-id": {fmt.Sprint("e", event)}, "ce-source": {"/a"}, "ce-type": {"tool:pre"}, "ce-subject": {fmt.Sprint("s", event)},
			"Hook-Wait-Ms": {wait}, "Hook-Nonce": {"n"}, "Hook-Retry": retry, "x-junk": {strings.Repeat("j", 60_000)},
		}
		m := &nats.Msg{Subject: "hooks.execute.tool.pre", Header: header, Data: command("ls")}
		if wait == "1" {
			if reply, err := nc.RequestMsgWithContext(ctx, m); err != nil || !strings.Contains(string(reply.Data), "pending") {
				t.Fatalf("%+v, %v", reply, err)
			}
			return
		}
		m.Reply = nc.NewInbox()
		ok(t, nc.PublishMsg(m))
	}
	before := heap()
	for i := range events {
		send(i, "1")
	}
	asked := heap()
	for range waiting {
		for i := range events {
			send(i, "80000", "1")
		}
		send(0, "1", "1") // what came before waits now
	}
	waits := heap()
	t.Logf("%d bytes for each of %d events, %d for each of %d requests that wait", (asked-before)/events, events, (waits-asked)/events/waiting, events*waiting)
	if n := (asked - before) / events; n > 100_000 {
		t.Errorf("an event that waits keeps %d bytes", n)
	}
	if n := (waits - asked) / events / waiting; n > 5000 {
		t.Errorf("a request that waits keeps %d bytes", n)
	}
}

// Sessions keep no headers of the events that named them.
func TestSessionsKeepLittle(t *testing.T) { // not parallel: it measures memory
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	hook(t, s, worker.Registration{ID: "labels", Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (r worker.Result, err error) {
		r.Labels = []string{"seen"}
		return r, nil
	})
	const sessions = 200
	nc, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	before := heap()
	for i := range sessions {
		header := nats.Header{
			"ce-specversion": {"1.0"}, "ce-id": {fmt.Sprint("e", i)}, "ce-source": {"/a"}, "ce-type": {"tool:pre"}, "ce-subject": {fmt.Sprint("s", i)},
			"ce-hookparent": {fmt.Sprint("p", i)}, "x-junk": {strings.Repeat("j", 60_000)},
		}
		if reply, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.emit.tool.pre", Header: header, Data: command("ls")}); err != nil || !strings.Contains(string(reply.Data), "continue") {
			t.Fatalf("%+v, %v", reply, err)
		}
	}
	n := (heap() - before) / sessions
	t.Logf("%d bytes for each session", n)
	if n > 50_000 {
		t.Errorf("a session keeps %d bytes", n)
	}
}

// All headers of a request count, also those that no router reads.
func TestHeadersAreBounded(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{}, natsx.Options{Inbox: "_INBOX_router"})
	nc, ctx := natstest.Conn(t, s), testkit.Within(t, testkit.Patience)
	for junk, want := range map[int]string{60_000: "", 70_000: "413"} {
		header := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"e"}, "ce-source": {"/a"}, "ce-type": {"tool:pre"}, "x-junk": {strings.Repeat("j", junk)}}
		reply, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: "hooks.emit.tool.pre", Header: header, Data: command("ls")})
		if err != nil || reply.Header.Get("Nats-Service-Error-Code") != want {
			t.Errorf("%d bytes: %+v, %v; want %q", junk, reply, err, want)
		}
	}
}
