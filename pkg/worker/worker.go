package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nats-io/nuid"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// Options configure a worker. The zero value suits most programs.
type Options struct {
	// Name of the program for service discovery; empty means the client's name, or "hook-worker".
	Name string
	// Version of the program; empty means 0.0.0. Registrations do not inherit it.
	Version string
	// Instance distinguishes this process from others that serve the same hooks; empty means a
	// random id.
	Instance string
	// MaxInFlight bounds the concurrent calls of one hook; 0 means 64. Further calls wait, and are
	// not run if their time ends first.
	MaxInFlight int
	// Middleware wraps every handler; the first is the outermost.
	Middleware []Middleware
	// OnReplaced is called when another registration replaced one of this worker's: routers now
	// call the hook as inForce says, or not at all. It is called once for each replacement and must
	// not block. Nil means no callback; replacements are logged as errors in any case.
	OnReplaced func(hook string, inForce Registration)
	// Metadata returns metadata for service discovery, besides the prefix and the instance. It is
	// called for each discovery request and must not block. Nil means none.
	Metadata func() map[string]string
}

// Worker serves hooks. It is safe for concurrent use.
type Worker struct {
	conn        *clientconn.Conn
	service     *service.Service
	instance    string
	maxInFlight int
	middleware  []Middleware
	onReplaced  func(hook string, inForce Registration)
	cancel      context.CancelFunc
	renewal     sync.WaitGroup  // renew and the renewals in flight
	limiter     service.Limiter // of renewals in flight
	wake        chan struct{}   // tells renew that a hook may be due earlier

	mu    sync.Mutex // guards next, hooks, and due and renewing of each hook
	next  uint64
	hooks map[string]*registered
}

// New creates a worker on a client's connection. Call [Worker.Close] before closing the client;
// [Worker.Run] does so.
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

// Instance returns the id that distinguishes this process from others that serve the same hooks.
func (w *Worker) Instance() string { return w.instance }

// Register starts to serve a hook. When it returns without an error, every router calls the hook
// for later events. unregister removes this worker from the hook. With its last worker the hook
// itself goes, unless it is durable. Calling unregister again does nothing.
//
// Register sets the registration's Instance. The error says that the registration is invalid, that
// no router answered, or that ctx ended. If it is unknown whether a router stored the registration,
// Register tries for one more second to remove this worker from the hook. A durable hook may then
// stay registered, as it does after its last worker: see [Worker.Retire].
func (w *Worker) Register(ctx context.Context, reg chain.Registration, handler Handler) (unregister func(context.Context) error, err error) {
	if handler == nil {
		return nil, fmt.Errorf("hook %q: the handler is nil", reg.ID)
	}
	handler = wrap(handler, w.middleware)
	return w.register(ctx, reg, func(ctx context.Context, req *service.Request) error {
		return answer(ctx, reg.ID, req, handler)
	})
}

// On is Register under the name that the specification keeps for older programs.
func (w *Worker) On(ctx context.Context, reg chain.Registration, handler Handler) (unregister func(context.Context) error, err error) {
	return w.Register(ctx, reg, handler)
}

// RegisterContributor starts to contribute to the channels of the registration. contribute returns
// a value that marshals to JSON; nil contributes nothing.
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

// Retire removes a hook and all of its instances from the bus, whether it is durable or not.
func (w *Worker) Retire(ctx context.Context, id string) error {
	if hook := w.answersFor(id); hook != nil && w.forget(hook) {
		hook.announcing.Lock()
		defer hook.announcing.Unlock()
		defer w.silence(hook)
	}
	return w.request(ctx, "unregister", id, clientconn.Never, struct{}{}, nil)
}

// Run waits until ctx ends and then closes the worker. It allows [chain.MaxTimeout] for calls in
// flight.
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

// Close removes this worker from its hooks and waits for the calls in flight, bounded by ctx. The
// client stays connected.
func (w *Worker) Close(ctx context.Context) error {
	w.cancel()
	w.renewal.Wait()
	var errs []error
	for _, hook := range w.inOrder() {
		if !w.forget(hook) {
			continue
		}
		// The worker keeps listening until the service stops, which waits for received calls.
		if err := w.leave(ctx, hook.id); err != nil {
			errs = append(errs, fmt.Errorf("unregister %s: %w", hook.id, err))
		}
	}
	errs = append(errs, w.service.Stop(ctx))
	return errors.Join(errs...)
}
