package mcpproxy_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/mcpproxy"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/worker"
	"github.com/nats-io/nats.go"
)

// What two readers could take for two messages is refused, and the server never sees it.
func TestAmbiguous(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:pre", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POLICY-NO") })
	s := open(t, b.url, "mirror")
	const run = `"params":{"name":"x","arguments":{}}`
	for _, test := range []struct{ line, says string }{
		{`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call",` + run + `}`, "twice"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/call",` + run + `}`, "twice"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call",` + run + `}`, "another one"},
		{`{"jsonrpc":"2.0","id":1,"METHOD":"tools/call",` + run + `}`, "another one"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","par` + "\u0061" + `mſ":{}}`, "another one"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools\u002fcall",` + run + `}`, "POLICY-NO"},
		{`{"jsonrpc":"2.0","id":1,"method":"Tools/Call",` + run + `}`, "may run a tool"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call ",` + run + `}`, "not a name"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/callNow",` + run + `}`, "may run a tool"},
		{`{"jsonrpc":"2.0","id":1,"method":["tools/call"],` + run + `}`, "not a name"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{},` + run + `}`, "either a request or a response"},
		{`{"jsonrpc":"2.0","method":"tools/call",` + run + `}`, "may run a tool"},
		{`{"jsonrpc":"2.0","id":null,"method":"tools/call",` + run + `}`, "its id"},
		{`{"jsonrpc":"2.0","id":1.0,"method":"tools/call",` + run + `}`, "its id"},
		{`{"jsonrpc":"2.0","id":1e0,"method":"ping"}`, "its id"},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "its id"},
		{`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, "its id"},
		{`{"id":1,"method":"tools/call",` + run + `}`, "jsonrpc"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[{"name":"x"}]}`, "must be an object"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","Name":"y"}}`, "another one"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","Arguments":{"path":"/"}}}`, "another one"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}`, "twice"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{},"input":{"path":"/"}}}`, "would not see"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":"{}"}}`, "must be an object"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x\u0000"}}`, "the tool's name"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, "the tool's name"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":\r" + call(1, "x", "{}") + "\r}", "line break"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/c\xffll\"}", "UTF-8"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}`, "can't be read"},
		{"\ufeff" + call(1, "x", "{}"), "can't be read"},
		{`{"jsonrpc":"2.0","method":"n"}` + call(1, "x", "{}"), "something follows"},
		{`[]`, "not an empty one"},
		{`[[` + call(1, "x", "{}") + `]]`, "message 1 of the batch"},
		{`[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}]`, "message 2 of the batch"},
		{`[` + strings.Repeat(`{},`, 300) + `{}]`, "more than 256"},
		{strings.Repeat("[", 20000), "can't be read"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 201), "nests deeper"},
		{`tools/call`, "can't be read"},
		{`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"a","TaskID":"b"}}`, "another one"},
	} {
		s.send(test.line)
		s.refused(test.says)
	}
	s.nothing()
}

// A message that never ends takes no memory.
func TestHugeMessage(t *testing.T) {
	testkit.From(t, testkit.CI)
	s := open(t, start(t).url, "mirror")
	part := strings.Repeat("x", 1<<20)
	for range 65 {
		if _, err := s.in.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	s.send("")
	s.refused("longer than")
	s.nothing()
}

// Nothing runs, and no result passes, where the router gives no verdict.
func TestNoVerdict(t *testing.T) {
	t.Parallel()
	b := start(t)
	within := func(timeout time.Duration) func(*mcpproxy.Options, *agenthook.Options) {
		return func(_ *mcpproxy.Options, ask *agenthook.Options) { ask.Timeout = timeout }
	}
	for name, test := range map[string]struct {
		url     string
		timeout time.Duration
		says    string
	}{
		"nobody there":       {"nats://127.0.0.1:1", testkit.Patience, "can't be reached"},
		"NATS and no router": {natstest.Listening(t).ClientURL(), testkit.Patience, "no hook router answers"},
		"silence":            {silent(t), 300 * time.Millisecond, "Blocked"},
		"garbage":            {routerThat(t, func(m *nats.Msg) { natstest.Respond(m, about(m), []byte(`{`)) }), testkit.Patience, "Blocked"},
		"no action":          {routerThat(t, func(m *nats.Msg) { natstest.Respond(m, about(m), []byte(`{}`)) }), testkit.Patience, "Blocked"},
		"an unknown action":  {routerThat(t, func(m *nats.Msg) { natstest.Respond(m, about(m), []byte(`{"action":"allow"}`)) }), testkit.Patience, "Blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, test.url, "mirror", within(test.timeout))
			s.send(call(1, "x", `{}`))
			s.refused(test.says)
			s.nothing()
		})
	}
	t.Run("a hook that is late", func(t *testing.T) {
		b.at("tool:pre", func(ctx context.Context, _ worker.Event) (worker.Result, error) {
			<-ctx.Done()
			return worker.Result{}, ctx.Err()
		})
		s := open(t, b.url, "mirror", within(300*time.Millisecond))
		s.send(call(1, "x", `{}`))
		s.refused("")
		s.nothing()
	})
}

// The router goes away while the tool runs.
func TestRouterStopsBeforeTheResult(t *testing.T) {
	t.Parallel()
	b := start(t)
	s := open(t, b.url, "mirror", func(_ *mcpproxy.Options, ask *agenthook.Options) { ask.Timeout = time.Second })
	b.at("tool:post", func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() })
	s.send(call(1, "x", `{}`))
	s.saw()
	s.answer()
	b.stop()
	s.send(call(2, "x", `{}`))
	s.refused("Blocked")
}

// What passes while no router is there is told, and reported later.
func TestAllow(t *testing.T) {
	t.Parallel()
	b := start(t)
	reports := make(chan string, 1)
	b.at(agenthook.UncheckedEvent, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		reports <- string(ev.Data)
		return worker.Continue()
	})
	state := t.TempDir()
	allow := func(_ *mcpproxy.Options, ask *agenthook.Options) { ask.Allow, ask.StateDir = true, state }
	s := open(t, "nats://127.0.0.1:1", "mirror", allow)
	s.send(call(1, "x", `{}`))
	s.saw()
	if r := s.answer(); r.text() != "RAN" || !strings.Contains(s.notes.String(), "let pass without a verdict") {
		t.Errorf("%s; noted %q", r.raw, s.notes)
	}
	s = open(t, b.url, "mirror", allow)
	s.send(call(1, "x", `{}`))
	if report := testkit.Receive(t, "a report", reports); !strings.Contains(report, "mcp__srv__x") || !strings.Contains(report, `"count":2`) {
		t.Errorf("%s", report)
	}
	garbage := open(t, routerThat(t, func(m *nats.Msg) { natstest.Respond(m, about(m), []byte(`{}`)) }), "mirror", allow)
	garbage.send(call(1, "x", `{}`))
	garbage.refused("Blocked")
}

// A person decides while the call is held; the client is told that it waits. The router
// restarts meanwhile.
func TestAsk(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:pre", func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Ask("Deploy?", "Allow once", "Deny")
	})
	people := approver.New(b.client)
	for i, option := range []string{"Allow once", "Deny", "Allow once"} {
		s := open(t, b.url, "mirror")
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy%d","_meta":{"progressToken":"p"}}}`, i))
		for range 2 {
			if line := s.next(); !strings.Contains(line, `"progressToken":"p"`) || !strings.Contains(line, "waiting for a person: Deploy?") {
				t.Fatalf("%s; want progress", line)
			}
		}
		if i == 2 {
			b.stop()
			b.restart()
		}
		testkit.Eventually(t, "the question is answered", func() bool {
			list, _, err := people.Pending(t.Context(), approval.Filter{})
			if err != nil || len(list) == 0 {
				return false
			}
			_, err = people.Answer(t.Context(), list[0].ID, approval.Answer{Option: option})
			return err == nil
		})
		line := s.next()
		for strings.Contains(line, "notifications/progress") {
			line = s.next()
		}
		if ran := strings.Contains(line, "notifications/saw"); ran != (option == "Allow once") {
			t.Errorf("%s: %s", option, line)
		}
		if option == "Deny" && !strings.Contains(line, `"isError":true`) {
			t.Errorf("%s", line)
		}
	}
}

// silent is a server that accepts connections and says nothing.
func silent(t *testing.T) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return "nats://" + l.Addr().String()
}

// routerThat answers events in a way of its own.
func routerThat(t *testing.T, answer func(*nats.Msg)) (url string) {
	t.Helper()
	s := natstest.Listening(t)
	nc := natstest.Conn(t, s)
	if _, err := nc.Subscribe("hooks.execute.>", answer); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return s.ClientURL()
}

func about(m *nats.Msg) map[string][]string {
	return map[string][]string{"Hook-Event-Id": {m.Header["ce-id"][0]}}
}
