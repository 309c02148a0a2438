package simulation

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
)

// recovers is how long a router may take to be itself again after its connection
// was cut: what it was doing then ends after 5 s at most.
const recovers = 6 * time.Second

// replica runs one router after the other, each with a life and an end of its
// own.
type replica struct {
	server  nats.InProcessConnProvider
	rng     *rand.Rand
	log     *slog.Logger
	h       *history
	ends    *endings
	strikes <-chan struct{} // a moment that is worse than others to be harmed
}

// endings counts how routers ended.
type endings struct {
	mu                   sync.Mutex // guards the rest
	killed, stopped, cut int
}

func (e *endings) count(n *int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*n++
}

// run runs routers until calm is closed, then one that lives until ctx ends.
func (r *replica) run(ctx context.Context, calm <-chan struct{}) {
	var corpses sync.WaitGroup
	defer corpses.Wait()
	for ctx.Err() == nil {
		one := r.start()
		corpses.Go(func() { <-one.done })
		for alive := true; alive; {
			select {
			case <-time.After(between(r.rng, 100*time.Millisecond, 20*time.Second)):
				alive = r.harm(one)
			case <-r.strikes:
				alive = r.harm(one)
			case <-one.done: // it could not start
				alive = false
			case <-calm:
				select {
				case <-ctx.Done():
				case <-one.done:
				}
				one.stop()
				alive = false
			}
		}
		select {
		case <-time.After(between(r.rng, 0, 4*time.Second)):
		case <-calm:
		}
	}
}

// harm does something bad to a router and reports whether it lives on.
func (r *replica) harm(one *life) (alive bool) {
	switch n := r.rng.IntN(10); {
	case n < 5:
		r.ends.count(&r.ends.killed)
		one.kill()
		return false
	case n < 7:
		r.ends.count(&r.ends.stopped)
		one.over()
		one.cancel() // it drains; nobody waits for it
		return false
	default:
		r.ends.count(&r.ends.cut)
		one.over()
		one.wire.cut()
		one.back()
		return true
	}
}

// life is one router from its start to its end.
type life struct {
	h      *history
	wire   *wire
	bus    *natsx.Conn
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex // guards what follows
	ended bool
	began bool      // it has served
	since time.Time // since when it serves without harm; zero while it does not
}

func (r *replica) start() *life {
	l := &life{h: r.h, wire: newWire(r.server, child(r.rng)), done: make(chan struct{})}
	var err error
	if l.bus, err = natsx.Connect(natsx.Options{InProcess: l.wire}); err != nil {
		panic(err) // the server is there and the wire is up
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	o := router.Options{DrainTimeout: 10 * time.Second, Dispatch: dispatch.Options{ChainTimeout: 5 * time.Second}, Log: r.log}
	if r.rng.IntN(4) == 0 {
		o.Registry.Lease = time.Second
	}
	go func() {
		defer close(l.done)
		defer l.bus.Close()
		if one, err := router.New(ctx, l.bus, o); err == nil {
			_ = one.Run(ctx, l.up)
		}
	}()
	return l
}

func (l *life) up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = true
	if !l.ended {
		l.since = time.Now()
	}
}

// over notes that from now on nothing can be expected of the router.
func (l *life) over() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if !l.since.IsZero() {
		l.h.lived(l.since, time.Now())
		l.since = time.Time{}
	}
	l.h.disturbed(time.Now())
}

// back notes that it can again after a while, unless it never began to serve.
func (l *life) back() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = false
	if l.began {
		l.since = time.Now().Add(recovers)
	}
}

// kill ends the router at once: nothing that it has not sent yet leaves it, and
// what is on its way is lost.
func (l *life) kill() {
	l.over()
	l.wire.kill()
	l.bus.Conn().Close()
	l.cancel()
}

// stop ends the router in order and waits for it.
func (l *life) stop() {
	l.over()
	l.cancel()
	<-l.done
}
