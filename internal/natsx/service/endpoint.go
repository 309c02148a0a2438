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
	// Queue is the queue group; empty means that every replica gets each message.
	Queue string
	// Limiter bounds how many requests are in flight; endpoints may share one. Nil means
	// no limit. When it is full, a request waits for its turn with Wait, else it is
	// answered with 429.
	Limiter Limiter
	Wait    bool
	// Shares bounds what one sender has under way; endpoints may share one. Nil means no bound.
	// A request beyond it is answered with 429.
	Shares *Shares
	// OnError is called with the code of each request that was answered with an error, by
	// Handle or by the limiter, before that answer is sent. It must not block. Nil for
	// nothing.
	OnError func(code int)
	// Data is what STATS of the discovery says of this endpoint besides its counts;
	// nil for nothing.
	Data func() any
	// Handle answers one request, in a goroutine of its own. Its error is sent as
	// [wire.FromError] maps it; a nil error without a reply sends nothing.
	Handle func(context.Context, *Request) error
}

// Limiter bounds the requests in flight.
type Limiter chan struct{}

// NewLimiter makes a limiter for n requests.
func NewLimiter(n int) Limiter { return make(Limiter, n) }

// endpoint is an [Endpoint] that is served, and what it did.
type endpoint struct {
	spec     Endpoint
	sub      *nats.Subscription
	waiting  chan struct{} // a place for each request that waits for its turn
	requests atomic.Int64
	nanos    atomic.Int64

	mu     sync.Mutex // guards what follows
	errors int
	last   string
	byCode map[int]int // errors
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

// turn waits until a request may run, and reports whether it may: ctx may end first.
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

// count runs before an error is sent: whoever receives it finds it counted.
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
