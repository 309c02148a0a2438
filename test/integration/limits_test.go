package integration

import (
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// A chain whose time is over is refused, whatever its hooks' on_failure says.
func TestAChainOutOfTimeIsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, asked string
		chain       time.Duration
		policy      string
	}{
		{"the agent's time, a hook that may fail", "600", 0, "continue"},
		{"the agent's time, a guard", "600", 0, "deny"},
		{"the router's time", "", 600 * time.Millisecond, "deny"},
		{"the router's time is the most", "60000", 600 * time.Millisecond, "deny"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := natstest.Server(t)
			routertest.Start(t, s, router.Options{Dispatch: dispatch.Options{ChainTimeout: tt.chain}})
			nc := natstest.Conn(t, s)
			ctx := testkit.Within(t, 20*time.Second)
			told := make(chan int, 4)
			slow := func(m *nats.Msg) []byte {
				left, _ := strconv.Atoi(m.Header.Get("Hook-Timeout-Ms"))
				told <- left
				<-time.After(100 * time.Millisecond)
				return []byte(`{}`)
			}
			hook(t, ctx, nc, "a", `{"events":["e"],"priority":1}`, slow)
			hook(t, ctx, nc, "b", `{"events":["e"],"priority":2}`, slow)
			hook(t, ctx, nc, "c", `{"events":["e"],"priority":3,"timeout_ms":30000,"on_failure":"`+tt.policy+`"}`, func(m *nats.Msg) []byte {
				_ = slow(m)
				return nil
			})
			header := nats.Header{}
			if tt.asked != "" {
				header["Hook-Timeout-Ms"] = []string{tt.asked}
			}
			began := time.Now()
			m := request(t, ctx, nc, "hooks.emit.e", header, `{}`)
			took := time.Since(began)
			if code(m) != "504" || len(m.Data) > 0 || m.Header.Get("Hook-Denied-By")+m.Header.Get("Hook-Failed-Open") != "" {
				t.Errorf("got %v %s", m.Header, m.Data)
			}
			if took < 590*time.Millisecond || took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			a, b, c := take(t, ctx, told), take(t, ctx, told), take(t, ctx, told)
			if a > 600 || b > a-99 || c > b-99 || c < 1 {
				t.Errorf("the hooks were told that %d, %d and %d ms are left", a, b, c)
			}
		})
	}
}

// A hook out of its own time fails; what it says later is nobody's answer.
func TestAHookOutOfTime(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	ctx := testkit.Within(t, 60*time.Second)
	asked := make(chan *nats.Msg, 1)
	var overdue atomic.Pointer[nats.Msg] // a call that was not answered in time
	hook(t, ctx, nc, "late", `{"events":["e","guarded"],"timeout_ms":200}`, func(m *nats.Msg) []byte {
		if before := overdue.Swap(nil); before != nil {
			_ = before.Respond([]byte(`{"action":"deny","reason":"late"}`))
			_ = m.Respond([]byte(`{"reason":"in time"}`))
			return []byte(`{"action":"deny","reason":"twice"}`)
		}
		asked <- m
		return nil
	})
	hook(t, ctx, nc, "next", `{"events":["e"],"priority":1}`, says(`{"action":"modify","data":{"next":1}}`))
	for round := range testkit.Volume(t, 2, 6, 60) {
		m := request(t, ctx, nc, "hooks.emit.e", nil, `{}`)
		if res := decode[chain.Result](t, m.Data); m.Header.Get("Hook-Failed-Open") != "late" || m.Header.Get("Hook-Count") != "2" || string(res.Data) != `{"next":1}` {
			t.Fatalf("round %d: %v %s", round, m.Header, m.Data)
		}
		overdue.Store(take(t, ctx, asked))
		m = request(t, ctx, nc, "hooks.emit.e", nil, `{}`)
		if res := decode[chain.Result](t, m.Data); m.Header.Get("Hook-Failed-Open")+m.Header.Get("Hook-Denied-By") != "" || string(res.Data) != `{"next":1}` {
			t.Fatalf("round %d: a late answer counted: %v %s", round, m.Header, m.Data)
		}
	}
	hook(t, ctx, nc, "guard", `{"events":["guarded"],"timeout_ms":200,"on_failure":"deny"}`, func(*nats.Msg) []byte { return nil })
	began := time.Now()
	m := request(t, ctx, nc, "hooks.emit.guarded", nil, `{}`)
	if res := decode[chain.Result](t, m.Data); !res.Denied() || m.Header.Get("Hook-Denied-By") != "guard" || !strings.Contains(res.Reason, "(timeout)") {
		t.Errorf("%v %s", m.Header, m.Data)
	}
	if took := time.Since(began); took < 390*time.Millisecond || took > 5*time.Second {
		t.Errorf("two time-outs of 200 ms took %v", took)
	}
}

// The next request beyond a limit is refused at once, and the slots come back.
func TestTooMuchUnderWay(t *testing.T) {
	t.Parallel()
	const busy, free = `{"session_id":"busy"}`, `{"session_id":"free"}`
	for _, tt := range []struct {
		name   string
		o      router.Options
		others string // the code for another session meanwhile
	}{
		{"the router's limit", router.Options{MaxInFlight: 4}, "429"},
		{"a session's limit", router.Options{Dispatch: dispatch.Options{MaxPerSession: 4}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := natstest.Server(t)
			routertest.Start(t, s, tt.o)
			nc := natstest.Conn(t, s)
			ctx := testkit.Within(t, time.Minute)
			held := make(chan *nats.Msg, 8)
			hook(t, ctx, nc, "h", `{"events":["slow"],"timeout_ms":30000}`, func(m *nats.Msg) []byte { held <- m; return nil })
			sent := 0
			emit := func(event, body string) *nats.Msg {
				sent++
				return request(t, ctx, nc, "hooks.emit."+event, nil, body)
			}
			for range testkit.Volume(t, 5, 20, 200) {
				testkit.Until(t, ctx, "the slots are free", func() bool { return emits(t, ctx, nc) == sent })
				answers := make(chan string, 4)
				for range 4 {
					sent++
					go func() {
						m, err := nc.RequestWithContext(ctx, "hooks.emit.slow", []byte(busy))
						if err != nil {
							t.Errorf("emit: %v", err)
							m = &nats.Msg{}
						}
						answers <- code(m)
					}()
				}
				var calls []*nats.Msg
				for range 4 {
					calls = append(calls, take(t, ctx, held))
				}
				for _, event := range []string{"slow", "other"} {
					began := time.Now()
					if m := emit(event, busy); code(m) != "429" || !strings.Contains(m.Header.Get("Nats-Service-Error"), "4 requests") {
						t.Errorf("beyond the limit: %v", m.Header)
					}
					if took := time.Since(began); took > 2*time.Second {
						t.Errorf("the refusal took %v", took)
					}
				}
				if m := request(t, ctx, nc, "hooks.collect.other", nil, busy); code(m) != "429" {
					t.Errorf("a collect beyond the limit: %v", m.Header)
				}
				if m := request(t, ctx, nc, "hooks.registry", nil, ""); code(m) != "" {
					t.Errorf("operators are refused too: %v", m.Header)
				}
				for _, body := range []string{free, `{}`} {
					if m := emit("other", body); code(m) != tt.others {
						t.Errorf("others meanwhile: %v", m.Header)
					}
				}
				for _, m := range calls {
					_ = m.Respond(nil)
				}
				for range 4 {
					if c := <-answers; c != "" {
						t.Errorf("a request within the limit got %s", c)
					}
				}
				testkit.Until(t, ctx, "the slots come back", func() bool { // they are free when it is counted
					return emits(t, ctx, nc) == sent
				})
				if m := emit("other", busy); code(m) != "" {
					t.Errorf("afterwards: %v", m.Header)
				}
			}
		})
	}
}
