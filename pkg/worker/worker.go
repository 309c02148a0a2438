package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// Options configure a worker. The zero Options suit most programs.
type Options struct {
	// Name of the program, for discovery; empty means that of the client, or else "hook-worker".
	Name string
	// Version of the program; empty means 0.0.0. Registrations do not inherit it.
	Version string
	// Instance tells this process from others behind the same hooks; empty means a new random
	// one.
	Instance string
	// MaxInFlight bounds the concurrent calls of one hook; 0 means 64. Further calls wait; one that
	// has waited for all its time is not run.
	MaxInFlight int
	// Middleware wraps every handler; the first is the outermost.
	Middleware []Middleware
	// OnReplaced is called when another registration replaced one of this worker's: its hook is
	// called as inForce says, or not at all. It is called once for each such registration and
	// must not block. Nil for none; the replacement is logged as an error in any case.
	OnReplaced func(hook string, inForce Registration)
	// Metadata returns the worker's metadata for service discovery, besides its prefix and its
	// instance, for each request. It must not block. Nil for none.
	Metadata func() map[string]string
}

// Worker is a process that serves hooks.
type Worker struct {
	conn        *clientconn.Conn
	service     *service.Service
	instance    string
	maxInFlight int
	middleware  []Middleware
	onReplaced  func(hook string, inForce Registration)
	cancel      context.CancelFunc
	renewal     sync.WaitGroup  // renew, and each renewal under way
	limiter     service.Limiter // of renewals under way
	wake        chan struct{}   // makes renew check for earlier due times

	mu    sync.Mutex // guards what follows, and due and renewing of each hook
	next  uint64
	hooks map[string]*registered
}

// registered is a hook that this worker serves.
type registered struct {
	id       string
	order    uint64    // of registration with this worker
	remove   func()    // stops listening
	due      time.Time // of the next renewal; zero until the first registration is answered
	renewing bool      // a renewal is in flight or about to start

	// announcing is held while sending routers something about the hook, so that a renewal
	// never overtakes its removal or an update. It guards what follows, once the registration
	// was answered.
	announcing sync.Mutex
	reg        chain.Registration
	replacedBy string // content of the last reported registration in force; empty: its own
}

// New creates a worker on a client's connection. Call [Worker.Close] before closing the client,
// or let [Worker.Run] do so.
func New(client *hookrouter.Client, o Options) (*Worker, error) {
	conn := clientconn.Of(client)
	o.Name = cmp.Or(o.Name, conn.Name, "hook-worker")
	o.Version = cmp.Or(o.Version, "0.0.0")
	o.Instance = cmp.Or(o.Instance, nuid.Next())
	w := &Worker{
		conn: conn, instance: o.Instance, maxInFlight: cmp.Or(o.MaxInFlight, 64), middleware: slices.Clone(o.Middleware), onReplaced: o.OnReplaced,
		hooks: map[string]*registered{}, limiter: service.NewLimiter(maxRenewals), wake: make(chan struct{}, 1),
	}
	var err error
	w.service, err = service.Start(conn.Transport, o.Name, o.Version, map[string]string{"prefix": conn.Transport.Prefix(), "instance": o.Instance})
	if err != nil {
		return nil, err
	}
	if o.Metadata != nil {
		w.service.Describe(o.Metadata)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.renewal.Go(func() { w.renew(ctx) })
	return w, nil
}

// Instance tells this process from others behind the same hooks.
func (w *Worker) Instance() string { return w.instance }

// Register starts to serve a hook. When it returns without an error, every router calls the hook
// for later events. The returned function removes this worker from the hook, and with the last
// worker the hook, unless it is durable; a second call does no harm.
//
// Register sets the registration's Instance. The error says what is wrong with the registration,
// that no router answers, or that ctx ended. If it is unknown whether the registration was
// stored, this worker tries for one more second to remove itself from the hook; a durable hook
// may then stay registered, as after any last worker: see [Worker.Retire].
func (w *Worker) Register(ctx context.Context, reg chain.Registration, handler Handler) (unregister func(context.Context) error, err error) {
	if handler == nil {
		return nil, fmt.Errorf("hook %q: the handler is nil", reg.ID)
	}
	handler = wrap(handler, w.middleware)
	return w.register(ctx, reg, func(ctx context.Context, req *service.Request) error {
		return answer(ctx, reg.ID, req, handler)
	})
}

// On is Register, under the name that the specification keeps for older programs.
func (w *Worker) On(ctx context.Context, reg chain.Registration, handler Handler) (unregister func(context.Context) error, err error) {
	return w.Register(ctx, reg, handler)
}

// RegisterContributor starts to contribute to the channels of the registration.
// contribute returns any value that marshals to JSON; nil contributes nothing.
func (w *Worker) RegisterContributor(ctx context.Context, reg chain.Registration, contribute Contributor) (unregister func(context.Context) error, err error) {
	if contribute == nil {
		return nil, fmt.Errorf("contributor %q: the function is nil", reg.ID)
	}
	if len(reg.Channels) == 0 {
		return nil, fmt.Errorf("contributor %q: channels are missing", reg.ID)
	}
	return w.register(ctx, reg, func(ctx context.Context, req *service.Request) error {
		return contribution(ctx, reg.ID, req, contribute)
	})
}

func (w *Worker) register(ctx context.Context, reg chain.Registration, handle func(context.Context, *service.Request) error) (func(context.Context) error, error) {
	reg.Instance = w.instance
	if err := reg.Check(); err != nil {
		return nil, err
	}
	hook := &registered{id: reg.ID, reg: reg}
	if !w.reserve(hook) {
		return nil, fmt.Errorf("hook %q is registered by this worker already", reg.ID)
	}
	handle, unsubscribe, err := w.cancelable(reg, handle)
	if err != nil {
		w.forget(hook)
		return nil, err
	}
	remove, err := w.service.Add(service.Endpoint{
		Name: reg.ID, Subject: w.conn.Transport.Call(reg.ID), Queue: reg.ID,
		Limiter: service.NewLimiter(w.maxInFlight), Wait: true, Handle: handle,
	})
	if err != nil {
		w.forget(hook)
		unsubscribe()
		return nil, err
	}
	hook.remove = func() { remove(); unsubscribe() }
	if err := w.announce(ctx, hook); err != nil {
		if uncertain(err) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = w.leave(ctx, hook.id) // best effort
		}
		w.forget(hook) // not earlier: leave must not remove a new hook of this id
		hook.remove()
		return nil, err
	}
	return func(ctx context.Context) error { return w.unregister(ctx, hook) }, nil
}

// reserve takes a hook's id, unless it is taken.
func (w *Worker) reserve(hook *registered) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hooks[hook.id] != nil {
		return false
	}
	w.next++
	hook.order = w.next
	w.hooks[hook.id] = hook
	return true
}

// forget releases a hook's id, and reports whether it was still the hook's.
func (w *Worker) forget(hook *registered) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hooks[hook.id] != hook {
		return false
	}
	delete(w.hooks, hook.id)
	return true
}

func (w *Worker) unregister(ctx context.Context, hook *registered) error {
	if !w.forget(hook) {
		return nil
	}
	hook.announcing.Lock()
	defer hook.announcing.Unlock()
	err := w.leave(ctx, hook.id)
	w.silence(hook)
	return err
}

// silence stops listening for a hook. When it returns, the server knows, unless it
// can't be reached.
func (w *Worker) silence(hook *registered) {
	hook.remove()
	if w.conn.Transport.Connected() {
		_ = w.conn.Transport.Conn().FlushTimeout(time.Second)
	}
}

// leave tells the router that this worker no longer serves a hook.
func (w *Worker) leave(ctx context.Context, id string) error {
	return w.request(ctx, "unregister", id, clientconn.Never, map[string]string{"instance": w.instance}, nil)
}

// Retire removes a hook from the bus, with every instance of it, durable or not.
func (w *Worker) Retire(ctx context.Context, id string) error {
	if hook := w.answersFor(id); hook != nil && w.forget(hook) {
		hook.announcing.Lock()
		defer hook.announcing.Unlock()
		defer w.silence(hook)
	}
	return w.request(ctx, "unregister", id, clientconn.Never, struct{}{}, nil)
}

// Run waits until ctx ends and then closes the worker, within the time that the longest
// call may take, [chain.MaxTimeout].
func (w *Worker) Run(ctx context.Context) error {
	<-ctx.Done()
	return w.stop(ctx)
}

// stop closes the worker, even if ctx has ended.
func (w *Worker) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), chain.MaxTimeout)
	defer cancel()
	return w.Close(ctx)
}

// Close removes this worker from its hooks and answers what it has taken. ctx bounds
// how long it waits. The client stays connected.
func (w *Worker) Close(ctx context.Context) error {
	w.cancel()
	w.renewal.Wait()
	var errs []error
	for _, hook := range w.inOrder() {
		if !w.forget(hook) {
			continue
		}
		// It keeps listening until the service stops, which waits for received calls.
		if err := w.leave(ctx, hook.id); err != nil {
			errs = append(errs, fmt.Errorf("unregister %s: %w", hook.id, err))
		}
	}
	errs = append(errs, w.service.Stop(ctx))
	return errors.Join(errs...)
}
