package worker

import (
	"context"
	"errors"
	"sync"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// ErrInVain is the cause of a context that ended because the router discarded the call: another
// hook denied the event, or added labels. See [chain.Validates].
var ErrInVain = errors.New("the router discarded this call: its result is no longer needed")

// underWay holds the calls in flight of a hook that only validates, by call id.
type underWay struct {
	mu   sync.Mutex // guards ends
	ends map[string]context.CancelCauseFunc
}

// cancelable lets routers cancel the calls of a hook that only validates. stop ends the
// subscription.
func (w *Worker) cancelable(reg chain.Registration, handle handlerFunc) (_ handlerFunc, stop func(), err error) {
	if reg.Effect != chain.Validates {
		return handle, func() {}, nil
	}
	calls := &underWay{ends: map[string]context.CancelCauseFunc{}}
	stop, err = w.conn.Transport.Subscribe(w.conn.Transport.CallCancel(reg.ID), func(m *natsx.Message) {
		calls.end(wire.Get(m.Header, wire.HeaderCallID))
	})
	return func(ctx context.Context, req *service.Request) error {
		ctx, done := calls.begin(ctx, wire.Get(req.Header, wire.HeaderCallID))
		defer done()
		return handle(ctx, req)
	}, stop, err
}

type handlerFunc = func(context.Context, *service.Request) error

// begin registers a call until done is called.
func (u *underWay) begin(ctx context.Context, id string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ends[id] = cancel
	return ctx, func() {
		cancel(nil)
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.ends, id)
	}
}

// end cancels a call, if this worker runs it.
func (u *underWay) end(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if cancel := u.ends[id]; cancel != nil {
		cancel(ErrInVain)
	}
}
