package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// registrar answers registrations as a router does, but for those that it is told
// to leave waiting.
type registrar struct {
	ttl time.Duration

	mu      sync.Mutex // guards what follows
	mute    func(id string) bool
	asked   map[string]time.Time     // when each hook was last registered or renewed
	gap     map[string]time.Duration // the longest between two of that
	renewed map[string]int
	order   []string // in which they came
	waiting []*nats.Msg
}

func startRegistrar(t *testing.T, nc *nats.Conn, ttl time.Duration) *registrar {
	t.Helper()
	r := &registrar{ttl: ttl, asked: map[string]time.Time{}, gap: map[string]time.Duration{}, renewed: map[string]int{}}
	for subject, handle := range map[string]nats.MsgHandler{
		"hooks.register.*":   r.register,
		"hooks.unregister.*": func(m *nats.Msg) { natstest.Respond(m, nil, []byte("{}")) },
	} {
		if _, err := nc.Subscribe(subject, handle); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *registrar) register(m *nats.Msg) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, now := m.Subject[len("hooks.register."):], time.Now()
	if before, ok := r.asked[id]; ok {
		r.gap[id] = max(r.gap[id], now.Sub(before))
		r.renewed[id]++
	}
	r.asked[id] = now
	r.order = append(r.order, id)
	if r.mute != nil && r.mute(id) {
		r.waiting = append(r.waiting, m)
		return
	}
	r.answer(m)
}

func (r *registrar) answer(m *nats.Msg) {
	natstest.Respond(m, nil, fmt.Appendf(nil, `{"ttl_ms":%d}`, r.ttl.Milliseconds()))
}

// muteFor leaves hooks waiting from now on, and counts anew.
func (r *registrar) muteFor(mute func(id string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mute = mute
	clear(r.gap)
	clear(r.renewed)
	r.order = nil
}

// release answers whatever waits and mutes nothing any more.
func (r *registrar) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mute = nil
	for _, m := range r.waiting {
		r.answer(m)
	}
	r.waiting = nil
}

func (r *registrar) wait() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// least is how often the hook was renewed that was renewed least of all but one.
func (r *registrar) least(but string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	least := 1 << 30
	for id := range r.asked {
		if id != but {
			least = min(least, r.renewed[id])
		}
	}
	return least
}

// registerMany registers h00, h01 and so on.
func registerMany(t *testing.T, w *worker.Worker, n int) {
	t.Helper()
	for i := range n {
		register(t, w, worker.Registration{ID: fmt.Sprintf("h%02d", i)}, hooktest.Script().Handle)
	}
}

func TestARenewalThatHangsHoldsUpNoOther(t *testing.T) {
	natstest.Bubble(t, oneHangs)
}

func oneHangs(t *testing.T) {
	s := natstest.Server(t)
	r := startRegistrar(t, natstest.Conn(t, s), 1200*time.Millisecond)
	w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{})
	registerMany(t, w, 40)
	r.muteFor(func(id string) bool { return id == "h07" })
	eventually(t, "one renewal hangs", func() bool { return r.wait() == 1 })
	eventually(t, "the others were renewed many times", func() bool { return r.least("h07") >= 8 })
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, gap := range r.gap {
		if id != "h07" && gap > r.ttl {
			t.Errorf("hook %s was renewed after %s, which is more than its time-to-live of %s", id, gap, r.ttl)
		}
	}
}

func TestARenewalThatWasLostWithTheConnectionTakesItsTurnAgain(t *testing.T) {
	natstest.Bubble(t, takesItsTurnAgain)
}

func takesItsTurnAgain(t *testing.T) {
	s := natstest.Server(t)
	nc := natstest.Conn(t, s)
	r := startRegistrar(t, nc, 600*time.Millisecond)
	g := &gated{droppable: droppable{Server: s}}
	w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, g)}, worker.Options{})
	registerMany(t, w, 6)
	r.muteFor(func(id string) bool { return id == "h03" })
	eventually(t, "one renewal hangs", func() bool { return r.wait() == 1 })
	g.closed.Store(true)
	g.drop()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	r.muteFor(nil)
	g.closed.Store(false)
	eventually(t, "all are renewed", func() bool { return r.least("") >= 1 })
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff([]string{"h00", "h01", "h02", "h03", "h04", "h05"}, r.order[:6]); diff != "" {
		t.Errorf("renewed (-want +got):\n%s", diff)
	}
}

func TestConcurrentRenewalsAreBounded(t *testing.T) {
	natstest.Bubble(t, soMany)
}

func soMany(t *testing.T) {
	const most = 16
	s := natstest.Server(t)
	r := startRegistrar(t, natstest.Conn(t, s), 300*time.Millisecond)
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	registerMany(t, w, 2*most)
	all := func(string) bool { return true }
	r.muteFor(all)
	eventually(t, "as many as may be wait", func() bool { return r.wait() == most })
	<-time.After(300 * time.Millisecond) // enough for further ones to begin
	if n := r.wait(); n != most {
		t.Errorf("%d renewals are under way", n)
	}
	r.release()
	eventually(t, "all were renewed", func() bool { return r.least("") >= 1 })

	r.muteFor(all)
	eventually(t, "they wait again", func() bool { return r.wait() == most })
	began := time.Now()
	if err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("closing waited %s for renewals that nobody answers", took)
	}
	before := r.wait()
	<-time.After(100 * time.Millisecond)
	if n := r.wait(); n != before {
		t.Error("renewals go on after the end")
	}
}

func TestARegistrationWhoseAnswerIsLostLeavesNoInstance(t *testing.T) {
	for sentence, c := range map[string]struct {
		policy chain.Policy
		left   bool
	}{
		"a hook goes":              {chain.FailOpen, false},
		"a guard stays on its own": {chain.FailClosed, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s := natstest.Server(t)
				routertest.Start(t, s, router.Options{Registry: registry.Options{TTL: time.Hour}})
				replies := newHearing(t, s)
				w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, replies)}, worker.Options{})
				a := connectAgent(t, s)
				reg := worker.Registration{ID: "hook", Events: []string{"tool:pre"}, OnFailure: c.policy}
				stored, err := natstest.Conn(t, s).SubscribeSync("$KV.hooks_registry.hook.hook")
				if err != nil {
					t.Fatal(err)
				}

				replies.stop()
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				began := time.Now()
				if _, err := w.Register(ctx, reg, deny("here")); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("error is %v", err)
				}
				if took := time.Since(began); took > 4*time.Second {
					t.Errorf("it took %s to give up", took)
				}
				if _, err := stored.NextMsg(patience); err != nil {
					t.Fatalf("the router did not store it: %v", err)
				}
				var list []agent.Listing
				eventually(t, "the instance is gone", func() bool {
					list, err = a.Registry(t.Context())
					return err == nil && (len(list) == 0 || len(list[0].Instances) == 0)
				})
				if left := len(list) == 1; left != c.left {
					t.Errorf("registered are %+v", list)
				}
				replies.resume()
				register(t, w, reg, deny("here")) // the id is free again
				if answer := emit(t, a, `{}`); answer.Reason != "here" {
					t.Errorf("answer %+v", answer)
				}
			})
		})
	}
}

func TestARefusedRegistrationUnregistersNothing(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	registerAs := func(version string, priority int) error {
		w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{Instance: "same"})
		reg := worker.Registration{ID: "hook", Events: []string{"tool:pre"}, Version: version, Priority: priority}
		_, err := w.Register(t.Context(), reg, deny(version))
		return err
	}
	if err := registerAs("2.0.0", 0); err != nil {
		t.Fatal(err)
	}
	refusal := &wire.Error{}
	if err := registerAs("1.0.0", 1); !errors.As(err, &refusal) || refusal.Code != wire.Conflict {
		t.Fatalf("error is %v", err)
	}
	if answer := emit(t, connectAgent(t, s), `{}`); answer.Reason != "2.0.0" {
		t.Errorf("the other process of this instance lost its hook: %+v", answer)
	}
}
