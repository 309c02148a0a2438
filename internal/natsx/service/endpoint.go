package service

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
)

// Endpoint is one subject that a service answers on.
type Endpoint struct {
	// Name of the endpoint, for discovery.
	Name string
	// Subject to subscribe to; may have wildcards.
	Subject string
	// Imported also serves the requests that the server imports from the accounts of agents, as
	// <prefix>.from.<account>.<rest of Subject>. A connection that may not subscribe to them gets none.
	Imported bool
	// Queue is the queue group; empty means that every replica gets each message.
	Queue string
	// Limiter bounds the requests in flight; endpoints may share one. Nil means no limit. At the
	// limit, a request waits for its turn if Wait is set, else it is answered with 429.
	Limiter Limiter
	Wait    bool
	// Shares bounds the requests in flight of each sender; endpoints may share one. Nil means no
	// limit. A request beyond it is answered with 429.
	Shares *Shares
	// OnError is called with the code of each error reply, from Handle or a limit, before it is
	// sent. It must not block. Nil means no callback.
	OnError func(code int)
	// Data returns data for the endpoint's STATS, besides its counts; nil means none.
	Data func() any
	// Handle answers one request in its own goroutine. Its error is sent as converted by
	// [wire.FromError]. If it returns nil without a reply, nothing is sent.
	Handle func(context.Context, *Request) error
}

// Limiter bounds the requests in flight.
type Limiter chan struct{}

// NewLimiter returns a limiter for n requests.
func NewLimiter(n int) Limiter { return make(Limiter, n) }

// endpoint is an [Endpoint] that is being served, with its statistics.
type endpoint struct {
	spec     Endpoint
	subs     []*nats.Subscription
	waiting  chan struct{} // one element for each request that waits for its turn
	requests atomic.Int64
	nanos    atomic.Int64

	mu     sync.Mutex // guards the fields below
	errors int
	last   string
	byCode map[int]int // number of errors
}

// acquire reports whether a request may run now.
func (ep *endpoint) acquire() bool {
	if ep.spec.Limiter == nil {
		return true
	}
	select {
	case ep.spec.Limiter <- struct{}{}:
		return true
	default:
		return false
	}
}

// turn waits until a request may run. It returns false if ctx ended first.
func (ep *endpoint) turn(ctx context.Context) bool {
	select {
	case ep.spec.Limiter <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (ep *endpoint) release() {
	if ep.spec.Limiter != nil {
		<-ep.spec.Limiter
	}
}

// count counts a request. It runs before an error is sent, so that the receiver can rely on the
// count.
func (ep *endpoint) count(start time.Time, e *wire.Error) {
	ep.requests.Add(1)
	ep.nanos.Add(int64(time.Since(start)))
	if e == nil {
		return
	}
	if ep.spec.OnError != nil {
		ep.spec.OnError(e.Code)
	}
	ep.mu.Lock()
	defer ep.mu.Unlock()
	ep.errors++
	ep.last = e.Error()
	ep.byCode[e.Code]++
}
