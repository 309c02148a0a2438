package hookcall_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/hookcall"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

const maxReply = 64

// bus is a connection of a router and one of a worker.
func bus(t *testing.T) (*natsx.Conn, *nats.Conn) {
	t.Helper()
	s := natstest.Server(t)
	return natstest.Connect(t, natsx.Options{InProcess: s}), natstest.Conn(t, s)
}

// subscribe answers messages on a subject with handle; nil only collects them.
func subscribe(t *testing.T, nc *nats.Conn, subject string, handle func(*nats.Msg)) <-chan *nats.Msg {
	t.Helper()
	got := make(chan *nats.Msg, 16)
	_, err := nc.Subscribe(subject, func(m *nats.Msg) {
		if handle != nil {
			handle(m)
		}
		got <- m
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestDo shows what the router makes of each reply of a worker.
func TestDo(t *testing.T) {
	t.Parallel()
	conn, worker := bus(t)
	fail := func(code int) nats.Header { return wire.Errorf(code, "the hook says so").Header() }
	for sentence, c := range map[string]struct {
		header nats.Header
		body   string
		want   chain.Failure // empty where the reply is the body
		code   int           // of the error, where it has one
		says   string        // the error, where it matters
	}{
		"a reply is returned as it is":                 {body: `{"action": "deny"}`},
		"so is one of exactly the largest size":        {body: strings.Repeat("x", maxReply)},
		"a byte more is an invalid result":             {body: strings.Repeat("x", maxReply+1), want: chain.FailedInvalid},
		"502: the hook's own program gave no result":   {header: fail(wire.InvalidResult), want: chain.FailedInvalid, code: wire.InvalidResult, says: "invalid result: the hook says so (502)"},
		"502: what is wrong is said once":              {header: wire.Errorf(wire.InvalidResult, "invalid result: no").Header(), want: chain.FailedInvalid, says: "invalid result: no (502)"},
		"504: the hook's time was over":                {header: fail(wire.Deadline), want: chain.FailedTimeout, says: "no answer within 1.5s"},
		"any other code is an error of the hook":       {header: fail(wire.Internal), want: chain.FailedError, code: wire.Internal},
		"an overloaded worker is an error of the hook": {header: fail(wire.Overloaded), want: chain.FailedError, code: wire.Overloaded},
	} {
		t.Run(sentence, func(t *testing.T) {
			hook := events.NewID()
			subscribe(t, worker, conn.Call(hook), func(m *nats.Msg) {
				_ = m.RespondMsg(&nats.Msg{Header: c.header, Data: []byte(c.body)})
			})
			reply, err := hookcall.Do(testkit.Within(t, testkit.Patience), conn, dispatch.Call{Hook: hook, Data: []byte("{}"), Timeout: 1500*time.Millisecond - 1}, nil, maxReply)
			if got := chain.FailureOf(err); got != c.want {
				t.Fatalf("failure %q (%v); want %q", got, err, c.want)
			}
			if c.says != "" && err.Error() != c.says {
				t.Errorf("error %q; want %q", err, c.says)
			}
			if c.want == "" && string(reply.Body) != c.body || c.want != "" && reply.Body != nil {
				t.Errorf("reply %q", reply)
			}
			if c.code != 0 && wire.CodeOf(err) != c.code {
				t.Errorf("error %v; want code %d", err, c.code)
			}
		})
	}
}

// TestAReplyMustRepeatTheCallIDWhereTheHookEchoes drops what somebody else sends.
func TestAReplyMustRepeatTheCallIDWhereTheHookEchoes(t *testing.T) {
	t.Parallel()
	conn, worker := bus(t)
	subscribe(t, worker, conn.Call("guard"), func(m *nats.Msg) {
		_ = m.Respond([]byte("forged"))
		_ = m.RespondMsg(&nats.Msg{Header: nats.Header{wire.HeaderCallID: {"another"}}, Data: []byte("forged")})
		natstest.Respond(m, nil, []byte("genuine"))
	})
	header := wire.Header{wire.HeaderCallID: {"7"}}
	for echoed, want := range map[bool]string{true: "genuine", false: "forged"} {
		call := dispatch.Call{Hook: "guard", Echoed: echoed}
		if got, err := hookcall.Do(testkit.Within(t, testkit.Patience), conn, call, header, maxReply); string(got.Body) != want || err != nil {
			t.Errorf("echoed %v: %q, %v; want %q", echoed, got, err, want)
		}
	}
}

func TestDoWithoutAReply(t *testing.T) {
	t.Parallel()
	conn, worker := bus(t)
	subscribe(t, worker, conn.Call("silent"), nil)
	if _, err := hookcall.Do(testkit.Within(t, testkit.Patience), conn, dispatch.Call{Hook: "nobody"}, nil, maxReply); !errors.Is(err, chain.ErrNoResponder) {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := hookcall.Do(testkit.Within(t, 50*time.Millisecond), conn, dispatch.Call{Hook: "silent", Timeout: 50 * time.Millisecond}, nil, maxReply); !errors.Is(err, context.DeadlineExceeded) || err.Error() != "no answer within 50ms" {
		t.Errorf("nobody replies: %v", err)
	}
}

func TestOnlyACallThatNobodyHearsIsReported(t *testing.T) {
	t.Parallel()
	conn, worker := bus(t)
	subscribe(t, worker, conn.Call("answers"), func(m *nats.Msg) { _ = m.Respond([]byte("{}")) })
	subscribe(t, worker, conn.Call("silent"), nil)
	var nobody []string
	calls := hookcall.New(conn, maxReply, func(hook string) { nobody = append(nobody, hook) }).Open(dispatch.Envelope{Event: events.Event{Name: "tool:pre"}})
	for _, hook := range []string{"answers", "silent", "killed"} {
		_, _ = calls.Call(testkit.Within(t, 100*time.Millisecond), dispatch.Call{Hook: hook, Data: []byte("{}")})
	}
	if len(nobody) != 1 || nobody[0] != "killed" {
		t.Errorf("reported: %q", nobody)
	}
}

const (
	traceOfEvent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	traceOfCall  = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
)

// channel opens the channel of an event with all that a message can carry.
func channel(conn *natsx.Conn) dispatch.Channel {
	return hookcall.New(conn, maxReply, nil).Open(dispatch.Envelope{
		Event:   events.Event{ID: "e1", Source: "/agent", Name: "tool:pre", Session: "s1", Time: "2026-01-02T03:04:05Z", Extensions: map[string]string{"team": "a"}},
		ChainID: "c1", Traceparent: traceOfEvent, Tracestate: "v=1", Baggage: "user=u1",
	})
}

// headers are the headers of a message, each once, without the call id.
func headers(t *testing.T, m *nats.Msg) (list map[string]string, callID string) {
	t.Helper()
	list = map[string]string{}
	for name, values := range m.Header {
		if len(values) != 1 {
			t.Errorf("header %s is there %d times", name, len(values))
		}
		list[name] = values[0]
	}
	callID = list[wire.HeaderCallID]
	delete(list, wire.HeaderCallID)
	return list, callID
}

func TestHeadersOfACall(t *testing.T) {
	t.Parallel()
	conn, worker := bus(t)
	calls := subscribe(t, worker, conn.Call("*"), func(m *nats.Msg) { _ = m.Respond([]byte("{}")) })
	ch := channel(conn)
	want := map[string]string{
		"ce-specversion": "1.0", "ce-id": "e1", "ce-source": "/agent", "ce-type": "tool:pre", "ce-subject": "s1", "ce-time": "2026-01-02T03:04:05Z", "ce-team": "a",
		wire.HeaderChainID: "c1", wire.HeaderTracestate: "v=1", wire.HeaderBaggage: "user=u1",
	}
	ids := map[string]bool{}
	for sentence, c := range map[string]struct {
		call dispatch.Call
		want map[string]string // besides those of the event
	}{
		"an enforced call": {
			dispatch.Call{Hook: "h1", Mode: chain.Enforce, Timeout: 1500 * time.Microsecond, Traceparent: traceOfCall},
			map[string]string{wire.HeaderMode: "enforce", wire.HeaderTimeout: "2", wire.HeaderTraceparent: traceOfCall},
		},
		"less than a millisecond is one": {
			dispatch.Call{Hook: "h2", Mode: chain.Shadow, Timeout: time.Nanosecond},
			map[string]string{wire.HeaderMode: "shadow", wire.HeaderTimeout: "1", wire.HeaderTraceparent: traceOfEvent},
		},
		"whole milliseconds stay": {
			dispatch.Call{Hook: "h3", Mode: chain.Enforce, Timeout: time.Second},
			map[string]string{wire.HeaderMode: "enforce", wire.HeaderTimeout: "1000", wire.HeaderTraceparent: traceOfEvent},
		},
	} {
		c.call.Data = []byte(`{"b": 1, "a": "<"}`)
		if _, err := ch.Call(testkit.Within(t, testkit.Patience), c.call); err != nil {
			t.Fatalf("%s: %v", sentence, err)
		}
		m := testkit.Receive(t, "the call", calls)
		got, id := headers(t, m)
		maps.Copy(c.want, want)
		if diff := cmp.Diff(c.want, withoutContentType(got)); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", sentence, diff)
		}
		if id == "" || ids[id] {
			t.Errorf("%s: call id %q is empty or not unique", sentence, id)
		}
		ids[id] = true
		if m.Subject != conn.Call(c.call.Hook) || string(m.Data) != string(c.call.Data) {
			t.Errorf("%s: %s carries %s", sentence, m.Subject, m.Data)
		}
	}
}

func withoutContentType(h map[string]string) map[string]string {
	for name := range h {
		if strings.EqualFold(name, "content-type") {
			delete(h, name)
		}
	}
	return h
}

func TestNotifyWantsNoReply(t *testing.T) {
	t.Parallel()
	conn, worker := bus(t)
	calls := subscribe(t, worker, conn.Call("h1"), nil)
	if err := channel(conn).Notify(dispatch.Call{Hook: "h1", Mode: chain.Observe, Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	m := testkit.Receive(t, "the notification", calls)
	got, id := headers(t, m)
	if m.Reply != "" || id == "" || got[wire.HeaderMode] != "observe" || got[wire.HeaderChainID] != "c1" {
		t.Errorf("reply subject %q, headers %v", m.Reply, m.Header)
	}
	if timeout, ok := got[wire.HeaderTimeout]; ok {
		t.Errorf("the time-out is %q although nobody waits", timeout)
	}
}

func TestWatchersSeeTheEventAndItsResult(t *testing.T) {
	t.Parallel()
	conn, watcher := bus(t)
	seen := subscribe(t, watcher, conn.Of(">"), nil)
	ch := channel(conn)
	if err := errors.Join(ch.PublishEvent([]byte(`{"a":1}`)), ch.PublishResult([]byte(`{"event":"tool:pre"}`))); err != nil {
		t.Fatal(err)
	}
	event, result := testkit.Receive(t, "the event", seen), testkit.Receive(t, "the result", seen)
	if event.Subject != conn.Event("event", "tool:pre") || string(event.Data) != `{"a":1}` || wire.Get(event.Header, "ce-id") != "e1" {
		t.Errorf("event on %s: %v %s", event.Subject, event.Header, event.Data)
	}
	if _, ok := event.Header[wire.HeaderCallID]; ok {
		t.Error("a published event has a call id")
	}
	if result.Subject != conn.Event("result", "tool:pre") || string(result.Data) != `{"event":"tool:pre"}` {
		t.Errorf("result on %s: %s", result.Subject, result.Data)
	}
}

// TestACallThatNATSDoesNotTake is no failure of the hook: on_failure would let the event pass.
func TestACallThatNATSDoesNotTake(t *testing.T) {
	t.Parallel()
	conn, worker := bus(t)
	subscribe(t, worker, conn.Call("guard"), func(m *nats.Msg) { _ = m.Respond([]byte(`{}`)) })
	call := dispatch.Call{Hook: "guard", Data: make([]byte, conn.MaxPayload()+1)}
	if _, err := hookcall.Do(t.Context(), conn, call, wire.Header{}, maxReply); !errors.Is(err, dispatch.ErrCallTooLarge) {
		t.Errorf("error %v", err)
	}
}
