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

	"github.com/hookrouter/hookrouter/internal/bus"
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
	bus     *bus.Bus
	service *bus.Service
	cancel  context.CancelFunc
	renewal sync.WaitGroup

	mu    sync.Mutex // guards hooks
	hooks map[string]*registered
}

// registered is a hook that this worker answers for.
type registered struct {
	body   []byte
	remove func() // stops listening
	ttl    time.Duration
	due    time.Time // of the next renewal
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
	w := &Worker{Options: o, hooks: map[string]*registered{}}
	var err error
	if o.Conn != nil {
		w.bus, err = bus.New(o.Conn, o.Prefix, o.Log)
	} else {
		w.bus, err = bus.Connect(bus.Options{URL: o.URL, Prefix: o.Prefix, Name: o.Name, Creds: o.Creds, NATS: o.NATS, Log: o.Log})
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
// registration, that no router answers, or that ctx ended.
func (w *Worker) Register(ctx context.Context, reg chain.Registration, handler Handler) (unregister func(context.Context) error, err error) {
	return w.register(ctx, reg, func(ctx context.Context, req *bus.Request) error {
		return answer(ctx, req, handler)
	})
}

// On is Register under the name the specification keeps for older programs.
func (w *Worker) On(ctx context.Context, reg chain.Registration, handler Handler) (unregister func(context.Context) error, err error) {
	return w.Register(ctx, reg, handler)
}

// RegisterContributor starts to contribute to the channels of the registration.
// contribute returns any value that marshals to JSON; nil contributes nothing.
func (w *Worker) RegisterContributor(ctx context.Context, reg chain.Registration, contribute Contributor) (unregister func(context.Context) error, err error) {
	if len(reg.Channels) == 0 {
		return nil, fmt.Errorf("contributor %q: channels are missing", reg.ID)
	}
	return w.register(ctx, reg, func(ctx context.Context, req *bus.Request) error {
		return contribution(ctx, req, contribute)
	})
}

func (w *Worker) register(ctx context.Context, reg chain.Registration, handle func(context.Context, *bus.Request) error) (func(context.Context) error, error) {
	reg.Instance = w.Instance
	if err := reg.Check(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	_, twice := w.hooks[reg.ID]
	w.mu.Unlock()
	if twice {
		return nil, fmt.Errorf("hook %q is registered by this worker already", reg.ID)
	}
	remove, err := w.service.Add(bus.Endpoint{
		Name: reg.ID, Subject: w.bus.Call(reg.ID), Queue: reg.ID,
		Slots: bus.NewSlots(w.MaxInFlight), Wait: true, Handle: handle,
	})
	if err != nil {
		return nil, err
	}
	hook := &registered{body: marshal(reg), remove: remove}
	if err := w.announce(ctx, reg.ID, hook); err != nil {
		remove()
		return nil, err
	}
	w.mu.Lock()
	w.hooks[reg.ID] = hook
	w.mu.Unlock()
	return func(ctx context.Context) error { return w.unregister(ctx, reg.ID, hook) }, nil
}

func (w *Worker) unregister(ctx context.Context, id string, hook *registered) error {
	w.mu.Lock()
	if w.hooks[id] != hook {
		w.mu.Unlock()
		return nil
	}
	delete(w.hooks, id)
	w.mu.Unlock()
	err := w.request(ctx, "unregister", id, marshal(map[string]string{"instance": w.Instance}), nil)
	hook.remove()
	return err
}

// Retire removes a hook from the bus, with every instance of it, durable or not.
func (w *Worker) Retire(ctx context.Context, id string) error {
	w.mu.Lock()
	hook := w.hooks[id]
	delete(w.hooks, id)
	w.mu.Unlock()
	err := w.request(ctx, "unregister", id, []byte("{}"), nil)
	if hook != nil {
		hook.remove()
	}
	return err
}

// Run waits until ctx ends and then closes the worker within ten seconds.
func (w *Worker) Run(ctx context.Context) error {
	<-ctx.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return w.Close(ctx)
}

// Close removes this worker from its hooks, answers what it has taken, and
// disconnects. ctx bounds how long it waits.
func (w *Worker) Close(ctx context.Context) error {
	w.cancel()
	w.renewal.Wait()
	w.mu.Lock()
	hooks := make(map[string]*registered, len(w.hooks))
	for id, hook := range w.hooks {
		hooks[id] = hook
	}
	w.mu.Unlock()
	var errs []error
	for id, hook := range hooks {
		if err := w.unregister(ctx, id, hook); err != nil {
			errs = append(errs, fmt.Errorf("unregister %s: %w", id, err))
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
