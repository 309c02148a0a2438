package integration

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestBadRequestsAreRefusedWithACode(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	deep := strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)
	for _, tt := range []struct {
		name, subject string
		header        nats.Header
		body          string
		code, text    string
	}{
		{"not JSON", "hooks.emit.tool.pre", nil, `{"a":`, "400", "not JSON"},
		{"not an object", "hooks.emit.tool.pre", nil, `[1]`, "400", "must be a JSON object"},
		{"nothing", "hooks.emit.tool.pre", nil, ``, "400", "JSON"},
		{"duplicate keys", "hooks.emit.tool.pre", nil, `{"a":1,"a":2}`, "400", "twice"},
		{"nested duplicate keys", "hooks.emit.tool.pre", nil, `{"x":[{"a":1,"\u0061":2}]}`, "400", "twice"},
		{"nesting deeper than 64", "hooks.emit.tool.pre", nil, deep, "400", "64"},
		{"600 KiB of data", "hooks.emit.tool.pre", nil, `{"a":"` + strings.Repeat("x", 600<<10) + `"}`, "413", "at most 524288"},
		{"a bad event name", "hooks.emit.tool.p!e", nil, `{}`, "400", "event name"},
		{"nine parts", "hooks.emit.a.b.c.d.e.f.g.h.i", nil, `{}`, "400", "parts"},
		{"one ce header alone", "hooks.emit.tool.pre", nats.Header{"ce-id": {"1"}}, `{}`, "400", "ce-specversion"},
		{"a type that is another event", "hooks.emit.tool.pre", nats.Header{"ce-id": {"1"}, "ce-source": {"/x"}, "ce-type": {"tool:post"}, "ce-specversion": {"1.0"}}, `{}`, "400", "tool:post"},
		{"two session ids", "hooks.emit.tool.pre", nats.Header{"CE-Id": {"1"}, "ce-source": {"/x"}, "ce-type": {"tool:pre"}, "ce-specversion": {"1.0"}, "ce-subject": {"s2"}}, `{"session_id":"s1"}`, "400", "differ"},
		{"defaults that are no object", "hooks.emit.tool.pre", nats.Header{"Hook-Defaults": {"[]"}}, `{}`, "400", "Hook-Defaults"},
		{"defaults over 8 KiB", "hooks.emit.tool.pre", nats.Header{"Hook-Defaults": {`{"a":"` + strings.Repeat("x", 9<<10) + `"}`}}, `{}`, "413", "Hook-Defaults"},
		{"a time-out that is no number", "hooks.emit.tool.pre", nats.Header{"Hook-Timeout-Ms": {"soon"}}, `{}`, "400", "Hook-Timeout-Ms"},
		{"a collect of garbage", "hooks.collect.tool.pre", nil, `nope`, "400", "JSON"},
		{"a channel with a bad name", "hooks.contributions.a.b!", nil, ``, "400", "channel"},
		{"handlers of a bad pattern", "hooks.handlers.*.pre", nil, ``, "400", "event name"},
		{"a registration with an unknown field", "hooks.register.g", nil, `{"events":["tool:pre"],"prio":1}`, "400", "prio"},
		{"a registration with a bad id", "hooks.register.Guard", nil, `{"events":["tool:pre"]}`, "400", "hook id"},
		{"a registration of another id", "hooks.register.g", nil, `{"id":"h","events":["tool:pre"]}`, "400", `"h"`},
		{"a registration without events", "hooks.register.g", nil, `{}`, "400", "events and channels"},
		{"a match that does not compile", "hooks.register.g", nil, `{"events":["*"],"match":"data.x =="}`, "400", "1:"},
		{"a match that is no condition", "hooks.register.g", nil, `{"events":["*"],"match":"'yes'"}`, "400", "true or false"},
		{"an unregistration with an unknown field", "hooks.unregister.g", nil, `{"who":"me"}`, "400", "who"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := request(t, ctx, nc, tt.subject, tt.header, tt.body)
			text := m.Header.Get("Nats-Service-Error")
			if code(m) != tt.code || !strings.Contains(text, tt.text) {
				t.Errorf("got %q %q, want code %s and a text with %q", code(m), text, tt.code, tt.text)
			}
			if len(text) > 1100 {
				t.Errorf("the text has %d bytes", len(text))
			}
		})
	}
	list := request(t, ctx, nc, "hooks.registry", nil, "")
	if string(list.Data) != "[]" {
		t.Errorf("after refused registrations the registry holds %s", list.Data)
	}
	refused := map[string]int{}
	var stats struct {
		Endpoints []struct {
			Name string
			Data struct{ Refused map[string]int }
		}
	}
	if err := json.Unmarshal(request(t, ctx, nc, "$SRV.STATS.hook-router", nil, "").Data, &stats); err != nil {
		t.Fatal(err)
	}
	for _, e := range stats.Endpoints {
		for c, n := range e.Data.Refused {
			refused[e.Name+" "+c] += n
		}
	}
	if refused["emit 400"] != 13 || refused["emit 413"] != 2 || refused["register 400"] != 6 {
		t.Errorf("refusals are counted as %v", refused)
	}
}

func TestARequestWhoseReplySubjectIsNoInboxDoesNothing(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 20*time.Second)
	called := make(chan string, 8)
	w := newWorker(t, natstest.Conn(t, s), worker.Options{})
	register(t, ctx, w, worker.Registration{ID: "g", Events: []string{"*"}}, func(_ context.Context, ev worker.Event) (worker.Result, error) {
		called <- ev.Name
		return worker.Result{}, nil
	})
	seen, err := nc.SubscribeSync("hooks.event.>")
	if err != nil {
		t.Fatal(err)
	}
	victim, err := nc.SubscribeSync("hooks.audit.forged")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.PublishRequest("hooks.emit.tool.pre", "hooks.audit.forged", []byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	request(t, ctx, nc, "hooks.emit.tool.post", nil, `{}`) // after it on the same connection
	if name := <-called; name != "tool:post" || len(called) > 0 {
		t.Errorf("the hook was called for %s", name)
	}
	if m, err := seen.NextMsgWithContext(ctx); err != nil || m.Subject != "hooks.event.tool.post" {
		t.Errorf("observers saw %v, %v", m, err)
	}
	if n, _, _ := victim.Pending(); n != 0 {
		t.Errorf("%d answers were sent to a subject that is no inbox", n)
	}
}

func TestRepliesOfHooksThatCanNotBeUsed(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 30*time.Second)
	for _, tt := range []struct{ name, reply string }{
		{"3 MiB", `{"reason":"` + strings.Repeat("x", 3<<20) + `"}`},
		{"garbage", "\x00\xff{{"},
		{"duplicate names", `{"action":"continue","action":"deny"}`},
		{"an unknown action", `{"action":"explode"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sub, err := nc.QueueSubscribe("hooks.call.odd", "odd", func(m *nats.Msg) { _ = m.Respond([]byte(tt.reply)) })
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = sub.Unsubscribe() }()
			for policy, action := range map[string]chain.Action{"continue": chain.Continue, "deny": chain.Deny} {
				reg := request(t, ctx, nc, "hooks.register.odd", nil, `{"events":["tool:pre"],"on_failure":"`+policy+`"}`)
				if code(reg) != "" {
					t.Fatal(reg.Header)
				}
				m := request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{}`)
				var r chain.Result
				if err := json.Unmarshal(m.Data, &r); err != nil || r.Action != action {
					t.Errorf("on_failure %s: %s %v", policy, m.Data, err)
				}
				if open := m.Header.Get("Hook-Failed-Open"); (open == "odd") != (policy == "continue") {
					t.Errorf("on_failure %s: Hook-Failed-Open is %q", policy, open)
				}
				if policy == "deny" && !strings.Contains(r.Reason, "invalid_result") {
					t.Errorf("the reason is %q", r.Reason)
				}
			}
		})
	}
}

func TestAnAnswerThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{CollectTimeout: testkit.Patience}})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, testkit.Patience)
	w := newWorker(t, natstest.Conn(t, s), worker.Options{})
	big := raw(`{"a":"` + strings.Repeat("x", 500<<10) + `"}`)
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		register(t, ctx, w, worker.Registration{ID: id, Events: []string{"x"}}, func(context.Context, worker.Event) (worker.Result, error) {
			return worker.Result{Data: big}, nil
		})
	}
	if m := request(t, ctx, nc, "hooks.collect.x", nil, `{}`); code(m) != "413" {
		t.Errorf("nine times 500 KiB: %v, %d bytes", m.Header, len(m.Data))
	}
}

func TestWhatCanNotStartSaysWhatToDo(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, 30*time.Second)
	taken, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Stop()
	addr := strings.TrimPrefix(taken.ClientURL(), "nats://")
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := t.TempDir()
	first, err := embedded.Start(embedded.Options{StoreDir: used})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Stop()
	for _, tt := range []struct {
		name string
		o    server.Options
		want []string
	}{
		{"a store directory of a router that runs", server.Options{StoreDir: used}, []string{used, "in use", "--store-dir", "--nats-url"}},
		{"replies that do not fit max_payload", server.Options{StoreDir: t.TempDir(), Router: router.Options{MaxReply: 8 << 20}}, []string{"max_payload", "--max-reply"}},
		{"a time-to-live that no renewal can meet", server.Options{StoreDir: t.TempDir(), Router: router.Options{Registry: registry.Options{TTL: time.Millisecond}}}, []string{"--ttl"}},
		{"a port that is taken", server.Options{Listen: addr, StoreDir: t.TempDir()}, []string{addr, "--nats-listen", "--nats-url"}},
		{"a store directory that can't be written", server.Options{StoreDir: file + "/data"}, []string{file, "--store-dir"}},
		{"limits that do not fit max_payload", server.Options{StoreDir: t.TempDir(), Router: router.Options{Dispatch: dispatch.Options{MaxData: 8 << 20}}}, []string{"max_payload", "--max-data"}},
		{"an HTTP port that is taken", server.Options{StoreDir: t.TempDir(), HTTPListen: addr}, []string{"--http-listen"}},
		{"a server that is not there", server.Options{NATS: natsx.Options{URL: "nats://127.0.0.1:1"}}, []string{"127.0.0.1:1", "is a server running"}},
		{"a prefix that is no token", server.Options{StoreDir: t.TempDir(), NATS: natsx.Options{Prefix: "a.b"}}, []string{"prefix"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, err := server.Start(ctx, tt.o)
			if err == nil {
				t.Fatalf("it started: %v", n)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the error %q does not mention %q", err, w)
				}
			}
		})
	}
}

func TestNATSGoneMidChain(t *testing.T) {
	t.Parallel()
	s, err := embedded.Start(embedded.Options{StoreDir: natstest.StoreDir(t), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			s.Stop()
		}
	}()
	r, stop := routertest.Start(t, s, router.Options{DrainTimeout: 2 * time.Second})
	ctx := testkit.Within(t, 30*time.Second)
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	inside := make(chan struct{})
	if _, err := nc.QueueSubscribe("hooks.call.slow", "slow", func(*nats.Msg) { close(inside) }); err != nil {
		t.Fatal(err)
	}
	if m := request(t, ctx, nc, "hooks.register.slow", nil, `{"events":["tool:pre"],"on_failure":"deny","timeout_ms":500}`); code(m) != "" {
		t.Fatal(m.Header)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := nc.RequestWithContext(ctx, "hooks.emit.tool.pre", []byte(`{}`))
		answer <- err
	}()
	<-inside
	s.Stop()
	stopped = true
	if err := <-answer; err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the agent was told %v", err)
	}
	testkit.Until(t, ctx, "the router says that it is not ready without NATS", func() bool { return r.Ready() != nil })
	stop()
}
