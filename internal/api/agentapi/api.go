package agentapi

import (
	"context"
	"errors"
	"sync"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// Options configure an API. All fields are required unless said otherwise.
type Options struct {
	Dispatcher *dispatch.Dispatcher
	Sessions   *session.Store
	// Ready reports why this replica can't serve agents, or nil.
	Ready func() error
	// AuditMode is sent to agents with every answer.
	AuditMode string
	// MaxData is the largest event data, in bytes.
	MaxData int
	// MaxInFlight bounds the requests in flight.
	MaxInFlight int
	// ForwardBaggage passes the W3C baggage of a request on to hooks.
	ForwardBaggage bool
	// Refused is called for each request that got an error; nil for none.
	Refused func(endpoint string, code int)
}

// API decodes agents' requests, passes them to the dispatcher, and encodes the answers. It is safe
// for concurrent use.
type API struct {
	*dispatch.Dispatcher
	// InFlight is a semaphore of the requests in flight.
	InFlight service.Limiter

	o         Options
	auditMode []string // a header of every answer

	mu      sync.Mutex // guards serving, and Add against Wait
	serving bool
	begun   sync.WaitGroup
	ctx     context.Context // of the requests
	cancel  context.CancelFunc
}

// New makes an API. It serves after [API.Serve].
func New(o Options) *API {
	a := &API{Dispatcher: o.Dispatcher, InFlight: service.NewLimiter(o.MaxInFlight), o: o, auditMode: []string{o.AuditMode}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// Serve admits requests.
func (a *API) Serve() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serving = true
}

var errStopping = wire.Errorf(wire.Unavailable, "this router is starting or stopping: try again, another one may answer")

// Begin takes a slot for a request and returns the context to decide it with. As over NATS, that
// context outlives the agent's connection. The error has code 503 or 429. end releases the slot.
func (a *API) Begin() (_ context.Context, end func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.serving {
		return nil, nil, errStopping
	}
	if err := a.o.Ready(); err != nil {
		return nil, nil, wire.Errorf(wire.Unavailable, "the router is not ready: %s", wire.FromError(err).Text)
	}
	select {
	case a.InFlight <- struct{}{}:
	default:
		return nil, nil, wire.Errorf(wire.Overloaded, "%d requests are under way, which is the limit: try again later", cap(a.InFlight))
	}
	a.begun.Add(1)
	return a.ctx, func() { <-a.InFlight; a.begun.Done() }, nil
}

// Drain admits no more requests and waits for those in flight until ctx ends.
func (a *API) Drain(ctx context.Context) error {
	defer a.cancel()
	a.mu.Lock()
	a.serving = false
	a.mu.Unlock()
	done := make(chan struct{})
	go func() { a.begun.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("stop serving agents over HTTP: requests are still under way")
	}
}

// Refused counts a request that got an error.
func (a *API) Refused(endpoint string, code int) {
	if a.o.Refused != nil {
		a.o.Refused(endpoint, code)
	}
}
