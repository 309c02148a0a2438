package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// world is one run.
type world struct {
	t        *testing.T
	sessions int // each is good for three to six events
	rng      *rand.Rand
	server   nats.InProcessConnProvider
	people   *nats.Conn
	h        history
	ends     *endings
	strikes  chan struct{} // to whichever router listens
	crowds   sync.WaitGroup
	calls    atomic.Int64 // of the hook
	close    atomic.Int64 // answers within ±20 ms of a deadline
	log      *slog.Logger // of all routers
	warned   bytes.Buffer // what they logged
}

func newWorld(t *testing.T, seed uint64, sessions int, ends *endings) *world {
	w := &world{t: t, sessions: sessions, ends: ends, rng: rand.New(rand.NewPCG(seed, 0)), server: natstest.Server(t), strikes: make(chan struct{})}
	w.log = slog.New(slog.NewTextHandler(&w.warned, &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.people = natstest.Conn(t, newWire(w.server, child(w.rng)))
	return w
}

// run lets everything happen.
func (w *world) run() {
	ctx, end := context.WithCancel(context.Background())
	calm := make(chan struct{})
	var routers sync.WaitGroup
	for n := range 2 + w.rng.IntN(2) {
		r := replica{server: w.server, rng: child(w.rng), log: w.log.With("replica", n), h: &w.h, ends: w.ends, strikes: w.strikes}
		routers.Go(func() { r.run(ctx, calm) })
	}
	w.hook()
	var agents sync.WaitGroup
	for n := range w.sessions {
		rng := child(w.rng)
		agents.Go(func() { w.session(fmt.Sprintf("s%d", n), rng) })
	}
	agents.Wait()
	close(calm)
	w.crowds.Wait()
	w.read()
	for _, q := range w.h.questions { // what nobody waits for is decided too
		<-time.After(time.Until(q.Expires.Add(2 * lateness)))
	}
	w.read()
	end()
	routers.Wait()
}

func (w *world) read() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.h.read(ctx, natstest.Conn(w.t, w.server)); err != nil {
		w.t.Fatal(err)
	}
}

// hook registers a hook that asks, each time something else.
func (w *world) hook() {
	nc, seed := natstest.Conn(w.t, w.server), w.rng.Uint64()
	_, err := nc.QueueSubscribe("hooks.call.ask", "ask", func(m *nats.Msg) {
		var data struct{ Command string }
		if err := json.Unmarshal(m.Data, &data); err != nil {
			w.t.Error(err)
		}
		call := w.calls.Add(1)
		rng := rand.New(rand.NewPCG(seed, uint64(call)))
		answer, err := json.Marshal(map[string]any{
			"action": "ask_user", "approval_prompt": data.Command, "approval_options": offers[rng.IntN(len(offers))],
			"approval_timeout": seconds(rng), "approval_default": []string{"allow", "deny"}[rng.IntN(2)],
			"data": map[string]any{"command": data.Command, "call": call},
		})
		if err != nil {
			w.t.Error(err)
		}
		_ = m.Respond(answer)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for registered := false; !registered; {
		const registration = `{"events":["tool:pre"],"on_failure":"deny","durable":true,"timeout_ms":2000}`
		m, err := request(nc, "hooks.register.ask", nil, []byte(registration), 6*time.Second)
		registered = err == nil && code(m) == 0
		<-time.After(100 * time.Millisecond)
	}
}

var offers = [][]string{
	nil, {"Allow once", "Allow always", "Deny"}, {"Allow always", "Deny"}, {"ALLOW ONCE", "No", "Never"}, {"Allow", "Allow always", "Deny", "Ask my boss"},
}

// seconds is the time for an answer: 1 to 300 seconds, more often a short one.
func seconds(rng *rand.Rand) float64 { return math.Round(math.Pow(300, rng.Float64())*1000) / 1000 }

// session has one agent, or two at a time, that ask about the same or about new
// things.
func (w *world) session(id string, rng *rand.Rand) {
	var agents sync.WaitGroup
	for range 1 + rng.IntN(2) {
		rng := child(rng)
		agents.Go(func() {
			nc := natstest.Conn(w.t, newWire(w.server, child(rng)))
			for n := range 3 {
				w.event(nc, rng, errand{fmt.Sprintf("e%d-%d", n, rng.Uint32()), id, fmt.Sprintf("rm -r %d", rng.IntN(4)/3)})
			}
		})
	}
	agents.Wait()
}

// event is one event, what people do about it, and what the agent hears.
func (w *world) event(nc *nats.Conn, rng *rand.Rand, e errand) {
	ctx, heard := context.WithCancel(context.Background())
	defer heard()
	crowd := func(rng *rand.Rand) func(string) {
		return func(id string) { w.crowds.Go(func() { w.crowd(ctx, rng, id) }) }
	}(child(rng))
	switch n := rng.IntN(10); {
	case n < 4:
		w.h.told(sdk(nc, e, crowd))
		return
	case n < 6: // the agent sends the event twice, and waits for both
		crowd(e.question())
		var twin sync.WaitGroup
		defer twin.Wait()
		other := child(rng)
		twin.Go(func() { w.h.told(raw(nc, other, e, true)) })
		w.h.told(raw(nc, rng, e, true))
	default:
		crowd(e.question())
		t := raw(nc, rng, e, false)
		w.h.told(t)
		if a := t.verdict.Approval; a != nil && !a.Cached {
			w.h.impostor(impostor(nc, rng, e))
		}
	}
}

// crowd are the people who answer one approval request, if there is one before ctx ends:
// nobody, or some, at any time or right at the deadline.
func (w *world) crowd(ctx context.Context, rng *rand.Rand, id string) {
	q, ok := look(ctx, w.people, id)
	if !ok || rng.IntN(4) == 0 {
		return
	}
	var people sync.WaitGroup
	defer people.Wait()
	for n := range 1 + rng.IntN(4) {
		rng := child(rng)
		people.Go(func() {
			at := q.Created.Add(between(rng, 0, q.Expires.Sub(q.Created.Time)))
			if rng.IntN(3) > 0 {
				at = q.Expires.Add(between(rng, -20*time.Millisecond, 20*time.Millisecond))
				w.close.Add(1)
				if rng.IntN(3) == 0 {
					when := at.Add(between(rng, 0, 4*latency))
					w.crowds.Go(func() { w.strike(when) })
				}
			}
			<-time.After(time.Until(at))
			for again := range 1 + rng.IntN(4)/3 {
				kind, said := words(rng, q, fmt.Sprintf("%s/%d/%d", id, n, again))
				w.h.answered(person(w.people, q, kind, said))
			}
		})
	}
}

// strike harms a router at a time.
func (w *world) strike(at time.Time) {
	<-time.After(time.Until(at))
	select {
	case w.strikes <- struct{}{}:
	default: // none is there
	}
}

// between is a time from low to high.
func between(rng *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(rng.Int64N(int64(high-low)+1))
}

// child makes another source of chance, for another goroutine.
func child(rng *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) }
