package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Options say how a worker connects and how much it takes on. The zero Options
// connect to nats://127.0.0.1:4222.
type Options struct {
	// URL of the NATS servers, comma-separated; empty means nats://127.0.0.1:4222.
	URL string
	// Conn is a connection to use instead; it stays the caller's.
	Conn *nats.Conn
	// Prefix of the subjects; empty means "hooks".
	Prefix string
	// Creds is the path of a NATS credentials file; empty for none.
	Creds string
	// NATS holds further options of the connection.
	NATS []nats.Option
	// Name of the program, for discovery; empty means "hook-worker".
	Name string
	// Version of the program; empty means 0.0.0. Registrations without a version of
	// their own do not get it.
	Version string
	// Instance tells this process from others behind the same hooks; empty means a
	// new random one.
	Instance string
	// MaxInFlight is how many calls of one hook run at once; 0 means 64.
	MaxInFlight int
	// Log gets lost and regained registrations; nil discards them.
	Log *slog.Logger
}

// Worker is a process that answers for hooks.
type Worker struct {
	Options
	bus     *natsx.Conn
	service *natsx.Service
	cancel  context.CancelFunc
	renewal sync.WaitGroup // renew, and each renewal under way
	slots   natsx.Limiter  // of renewals under way
	wake    chan struct{}  // tells renew that something is due earlier than it thinks

	mu    sync.Mutex // guards what follows, and due and renewing of each hook
	next  uint64
	hooks map[string]*registered
}

// registered is a hook that this worker answers for.
type registered struct {
	id       string
	order    uint64    // of its registration with this worker
	remove   func()    // stops listening
	due      time.Time // of the next renewal; zero until the first registration is answered
	renewing bool      // a renewal is under way, or about to be

	// talk is held while routers are told something about the hook, so that a
	// renewal never overtakes the end of it, or an update. It guards reg, once the
	// registration was answered.
	talk sync.Mutex
	reg  chain.Registration
}

// Connect connects a worker. Close it, or let [Worker.Run] do so.
func Connect(ctx context.Context, o Options) (*Worker, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Name == "" {
		o.Name = "hook-worker"
	}
	if o.Version == "" {
		o.Version = "0.0.0"
	}
	if o.Instance == "" {
		o.Instance = nuid.Next()
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = 64
	}
	w := &Worker{Options: o, hooks: map[string]*registered{}, slots: natsx.NewLimiter(maxRenewals), wake: make(chan struct{}, 1)}
	var err error
	if o.Conn != nil {
		w.bus, err = natsx.New(o.Conn, o.Prefix, o.Log)
	} else {
		w.bus, err = natsx.Connect(natsx.Options{URL: o.URL, Prefix: o.Prefix, Name: o.Name, Creds: o.Creds, NATS: o.NATS, Log: o.Log})
	}
	if err != nil {
		return nil, err
	}
	w.service, err = w.bus.Serve(o.Name, o.Version, map[string]string{"prefix": w.bus.Prefix(), "instance": o.Instance})
	if err != nil {
		w.closeBus()
		return nil, err
	}
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.renewal.Go(func() { w.renew(ctx) })
	return w, nil
}

// Register starts to answer for a hook. When it returns without an error, every
// router calls the hook from the next event on. The returned function removes
// this worker from the hook, and with the last worker the hook, unless it is
// durable; a second call does no harm.
//
// The registration's Instance is set here. The error says what is wrong with the
// registration, that no router answers, or that ctx ended. Where it leaves open
// whether the registration was stored, this worker has taken itself off the hook
// again, as well as it could in one second more; a durable hook may be registered
// then, as after any last worker: see [Worker.Retire].
func (w *Worker) Register(ctx context.Context, reg chain.Registration, handler Handler) (unregister func(context.Context) error, err error) {
	if handler == nil {
		return nil, fmt.Errorf("hook %q: the handler is nil", reg.ID)
	}
	return w.register(ctx, reg, func(ctx context.Context, req *natsx.Request) error {
		return answer(ctx, reg.ID, req, handler)
	})
}

// On is Register under the name the specification keeps for older programs.
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
	return w.register(ctx, reg, func(ctx context.Context, req *natsx.Request) error {
		return contribution(ctx, reg.ID, req, contribute)
	})
}

func (w *Worker) register(ctx context.Context, reg chain.Registration, handle func(context.Context, *natsx.Request) error) (func(context.Context) error, error) {
	reg.Instance = w.Instance
	if err := reg.Check(); err != nil {
		return nil, err
	}
	hook := &registered{id: reg.ID, reg: reg}
	if !w.reserve(hook) {
		return nil, fmt.Errorf("hook %q is registered by this worker already", reg.ID)
	}
	var err error
	hook.remove, err = w.service.Add(natsx.Endpoint{
		Name: reg.ID, Subject: w.bus.Call(reg.ID), Queue: reg.ID,
		Limiter: natsx.NewLimiter(w.MaxInFlight), Wait: true, Handle: handle,
	})
	if err != nil {
		w.forget(hook)
		return nil, err
	}
	if err := w.announce(ctx, hook); err != nil {
		if unsure(err) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = w.leave(ctx, hook.id) // as well as it can
		}
		w.forget(hook) // not before: a new one of this id must not be left by that
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

// forget gives a hook's id back, and reports whether it was still the hook's.
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
	hook.talk.Lock()
	defer hook.talk.Unlock()
	err := w.leave(ctx, hook.id)
	w.silence(hook)
	return err
}

// silence stops listening for a hook. When it returns, the server knows, unless it
// can't be reached.
func (w *Worker) silence(hook *registered) {
	hook.remove()
	if w.bus.Connected() {
		_ = w.bus.Conn().FlushTimeout(time.Second)
	}
}

// leave tells the router that this worker does not answer for a hook any more.
func (w *Worker) leave(ctx context.Context, id string) error {
	return w.request(ctx, "unregister", id, marshal(map[string]string{"instance": w.Instance}), nil)
}

// Retire removes a hook from the bus, with every instance of it, durable or not.
func (w *Worker) Retire(ctx context.Context, id string) error {
	if hook := w.answersFor(id); hook != nil && w.forget(hook) {
		hook.talk.Lock()
		defer hook.talk.Unlock()
		defer w.silence(hook)
	}
	return w.request(ctx, "unregister", id, []byte("{}"), nil)
}

// Run waits until ctx ends and then closes the worker, within the time that the longest
// call may take, [chain.MaxTimeout].
func (w *Worker) Run(ctx context.Context) error {
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), chain.MaxTimeout)
	defer cancel()
	return w.Close(ctx)
}

// Close removes this worker from its hooks, answers what it has taken, and
// disconnects. ctx bounds how long it waits.
func (w *Worker) Close(ctx context.Context) error {
	w.cancel()
	w.renewal.Wait()
	var errs []error
	for _, hook := range w.inOrder() {
		if !w.forget(hook) {
			continue
		}
		// It goes on listening until the service stops, which waits for what came.
		if err := w.leave(ctx, hook.id); err != nil {
			errs = append(errs, fmt.Errorf("unregister %s: %w", hook.id, err))
		}
	}
	errs = append(errs, w.service.Stop(ctx))
	w.closeBus()
	return errors.Join(errs...)
}

func (w *Worker) closeBus() {
	if w.Conn == nil {
		w.bus.Close()
	}
}
