package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// plainServer is a server of the operator's own, as its options say.
func plainServer(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.JetStream, o.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, natstest.StoreDir(t)
	o.NoLog, o.NoSigs = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server is not ready")
	}
	return s
}

// as is a client in a role of a server.
func as(t *testing.T, s *server.Server, user string) *nats.Conn {
	t.Helper()
	return natstest.Dial(t, login(s, user))
}

func login(s *server.Server, user string) string {
	return fmt.Sprintf("nats://%s:secret@%s", user, s.Addr())
}

// A session's state that can't be read, or not be reached, costs an "Allow always"
// its memory, and nobody who waits the answer.
func TestAnAnswerNeedsNoSessionState(t *testing.T) {
	t.Parallel()
	const get = "$JS.API.STREAM.MSG.GET.KV_hooks_sessions"
	s := plainServer(t, &server.Options{Users: []*server.User{
		{Username: "all", Password: "secret"},
		{Username: "cut", Password: "secret", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{get}}}},
	}})
	nc := as(t, s, "all")
	ctx := testkit.Within(t, 60*time.Second)
	required := listen(t, nc, "hooks.event.approval.required")
	answered := func(t *testing.T, header func(...string) nats.Header, waiting <-chan verdict.Verdict, q approval.Request, retried testkit.Tier) {
		t.Helper()
		short := testkit.Within(t, 6*time.Second)
		if m := request(t, short, nc, "hooks.approve."+q.ID, nil, `{"option":"Allow always"}`); code(m) != "" {
			t.Errorf("the answer was refused: %v", m.Header)
		}
		if v := take(t, short, waiting); v.Action != verdict.Continue || v.Approval.Option != "Allow always" {
			t.Errorf("the agent that waits was told %+v %+v", v, v.Approval)
		}
		if testkit.CurrentTier(t) < retried {
			return
		}
		again := request(t, ctx, nc, "hooks.execute.tool.pre", header("Hook-Retry", "1", "Hook-Wait-Ms", "500"), `{}`)
		if code(again) < "500" { // whether the session was revoked since is not known
			t.Errorf("a retry was told %v %s", again.Header, again.Data)
		}
	}
	of := func(id, session string) func(...string) nats.Header {
		return func(more ...string) nats.Header { return event(id, append(more, "ce-subject", session)...) }
	}

	_, stop := routertest.Start(t, nil, router.Options{}, natsx.Options{URL: login(s, "all")})
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"durable":true}`, says(asks))
	unreadable, unreachable := of("e1", "s1"), of("e2", "s2")
	request(t, ctx, nc, "hooks.session.turn", nil, `{"session_id":"s1"}`)
	waiting := execute(t, ctx, nc, unreadable(), `{}`)
	first := openQuestion(t, ctx, required)
	executed(t, nc, "tool:pre", unreachable("Hook-Wait-Ms", "1"), `{}`)
	second := openQuestion(t, ctx, required)
	states := bucket(t, ctx, nc, "hooks_sessions")
	keys, err := states.Keys(ctx)
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	if _, err := states.Put(ctx, keys[0], []byte("{")); err != nil {
		t.Fatal(err)
	}
	t.Run("one that can't be read", func(t *testing.T) { answered(t, unreadable, waiting, first, testkit.Smoke) })
	stop()
	routertest.Start(t, nil, router.Options{}, natsx.Options{URL: login(s, "cut")})
	t.Run("one that can't be reached", func(t *testing.T) {
		joined := execute(t, ctx, nc, unreachable("Hook-Retry", "1"), `{}`)
		testkit.Until(t, ctx, "the retry waits for its answer", func() bool {
			return slices.ContainsFunc(micros[micro.Stats](t, request(t, ctx, nc, "$SRV.STATS.hook-router", nil, "")).Endpoints, func(e *micro.EndpointStats) bool {
				return e.Name == "execute" && e.NumRequests > 0
			})
		})
		answered(t, unreachable, joined, second, testkit.CI) // the store's answer is waited for 5 s
	})
}

// A router whose NATS was away shows at once what was asked through another.
func TestTheListIsBackWithTheConnection(t *testing.T) {
	t.Parallel()
	o := embedded.Options{Listen: testkit.FreeAddrs(t, 1)[0], StoreDir: natstest.StoreDir(t), NoSync: true}
	s, err := embedded.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	var routers []*router.Router
	for range 2 {
		r, _ := routertest.Start(t, nil, router.Options{}, natsx.Options{URL: "nats://" + o.Listen})
		routers = append(routers, r)
	}
	nc := natstest.Dial(t, "nats://"+o.Listen, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	ctx := testkit.Within(t, 60*time.Second)
	hook(t, ctx, nc, "asks", `{"events":["tool:pre"],"durable":true}`, says(asks))
	executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1"), `{}`)
	s.Stop()
	if s, err = embedded.Start(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	testkit.Until(t, ctx, "an approval request is made again", func() bool {
		m, err := nc.RequestMsg(&nats.Msg{Subject: "hooks.execute.tool.pre", Header: event("e2", "Hook-Wait-Ms", "1"), Data: []byte(`{}`)}, 5*time.Second)
		return err == nil && code(m) == ""
	})
	asked := testkit.Within(t, 5*time.Second)
	for n, r := range routers {
		testkit.Until(t, asked, fmt.Sprintf("router %d lists both approval requests", n), func() bool {
			list, total, err := r.Approvals().Pending(asked, approval.Filter{})
			return err == nil && len(list) == 2 && total == 2
		})
	}
}

// Approval requests are masked for everybody; the reasons that observers get are, where
// they get redacted data.
func TestQuestionsAreMasked(t *testing.T) {
	t.Parallel()
	for _, publish := range []dispatch.PublishData{dispatch.PublishRedacted, dispatch.PublishNone, dispatch.PublishFull} {
		t.Run(string(publish), func(t *testing.T) {
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{PublishData: publish}})
			nc := natstest.Conn(t, s)
			ctx := testkit.Within(t, 30*time.Second)
			secrets := []string{"ghp_0123456789abcdefghijABCDEFGHIJ012345", "4111 1111 1111 1111"}
			quote := strings.Join(secrets, " for ")
			hook(t, ctx, nc, "asks", `{"events":["tool:pre"]}`, says(`{"action":"ask_user","approval_prompt":"Send `+quote+`?","reason":"it holds `+quote+`"}`))
			hook(t, ctx, nc, "denies", `{"events":["tool:post"]}`, says(`{"action":"deny","reason":"it holds `+quote+`"}`))
			shown := map[string][]byte{}
			required, notified := listen(t, nc, "hooks.event.approval.required"), listen(t, nc, "hooks.event.user.notification")
			results, decided := listen(t, nc, "hooks.result.tool.*"), listen(t, nc, "hooks.event.approval.denied")
			if v := executed(t, nc, "tool:pre", event("e1", "Hook-Wait-Ms", "1"), `{"command":"send `+quote+`"}`); v.Approval == nil || !strings.Contains(v.Approval.Prompt, quote) {
				t.Errorf("the agent is told %+v", v.Approval)
			}
			shown["approval:required"], shown["user:notification"] = next(t, ctx, required).Data, next(t, ctx, notified).Data
			shown["the result of execute"] = next(t, ctx, results).Data
			q := decode[approval.Request](t, shown["approval:required"])
			shown["the list"] = request(t, ctx, nc, "hooks.approvals", nil, "").Data
			shown["the record"] = request(t, ctx, nc, "hooks.approval."+q.ID, nil, "").Data
			request(t, ctx, nc, "hooks.approve."+q.ID, nil, `{"option":"Deny"}`)
			shown["approval:denied"] = next(t, ctx, decided).Data
			request(t, ctx, nc, "hooks.emit.tool.post", event("e2", "ce-type", "tool:post"), `{}`)
			shown["the result of emit"] = next(t, ctx, results).Data
			for name, body := range shown {
				whole := publish == dispatch.PublishFull && strings.HasPrefix(name, "the result of ")
				for _, secret := range secrets {
					if strings.Contains(string(body), secret) != whole {
						t.Errorf("%s with --publish-data=%s: %s", name, publish, body)
					}
				}
			}
		})
	}
}
