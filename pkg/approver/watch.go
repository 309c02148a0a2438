package approver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

const (
	watchBuffer = 1024        // notices that may wait for handle
	watchClosed = 4096        // number of decided requests that are remembered
	watchPause  = time.Second // before a failed list is retried
)

// Watch calls handle for every approval request that is open, opened or decided, one call at a
// time, until ctx ends; it then returns nil. A request is first reported without a decision, again
// after each answer that does not end it ([approval.Request.Reviews]), and finally with its
// decision. Watch lists the requests again to recover notices that were missed because handle is
// slow or the connection was lost, so [approval.Notice.Lost] is never set. It returns an error only
// if it can't subscribe to notices or list the open requests at the start.
func (a *Approver) Watch(ctx context.Context, handle func(approval.Notice)) error {
	notices, stale := make(chan *natsx.Message, watchBuffer), make(chan struct{}, 1)
	w := &watcher{approver: a, handle: handle, open: map[string]approval.Request{}, closed: map[string]struct{}{}}
	w.stale = func() {
		select {
		case stale <- struct{}{}:
		default: // a list is pending already
		}
	}
	stop, err := a.conn.Transport.Subscribe(a.conn.Transport.Of("event", "approval", ">"), func(m *natsx.Message) {
		select {
		case notices <- m:
		default:
			w.stale()
		}
	})
	if err != nil {
		return fmt.Errorf("watch approvals: %w", err)
	}
	defer stop()
	defer a.conn.Transport.OnReconnect(w.stale)()
	if err := a.conn.Transport.Conn().FlushTimeout(maxWait); err != nil {
		return fmt.Errorf("watch approvals: %w", err)
	}
	if err := w.list(ctx); err != nil {
		return fmt.Errorf("watch approvals: %w", err)
	}
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-notices:
			if w.read(ctx, m); w.late && again == nil {
				again = time.After(watchPause)
			}
			continue
		case <-stale:
		case <-again:
		}
		again, w.late = nil, false
		if err := w.list(ctx); err != nil && ctx.Err() == nil {
			a.conn.Log.Warn("could not list the approvals; trying again", "error", err)
			again = time.After(watchPause)
		}
	}
}

// watcher is the state of one Watch. Only one goroutine uses it, except for stale.
type watcher struct {
	approver *Approver
	handle   func(approval.Notice)
	stale    func() // requests a list
	open     map[string]approval.Request
	cut      bool                // the latest list was incomplete
	late     bool                // a router may not know of a decision yet
	closed   map[string]struct{} // the latest decided requests
	order    []string            // of closed, the oldest first
}

// read handles one published notice. Agents can publish such events too, so only the id is used;
// the state comes from the routers.
func (w *watcher) read(ctx context.Context, m *natsx.Message) {
	var told struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(m.Data, &told); err != nil || told.ID == "" { // routers may be configured to publish no data
		w.stale()
		return
	}
	if _, closed := w.closed[told.ID]; closed {
		return
	}
	r, err := w.approver.Get(ctx, told.ID)
	switch {
	case hookrouter.CodeOf(err) == hookrouter.CodeNotFound:
	case err != nil:
		w.stale()
	case r.Decision != nil:
		w.decided(r.Request, *r.Decision)
	default:
		_, open := w.open[r.ID]
		w.asked(r.Request)
		w.reviewed(r.Request)
		w.late = w.late || open
	}
}

// list requests the open requests to recover missed notices.
func (w *watcher) list(ctx context.Context) error {
	list, total, err := w.approver.Pending(ctx, approval.Filter{})
	if err != nil {
		return err
	}
	w.cut = total > len(list)
	listed := make(map[string]struct{}, len(list))
	for _, q := range list {
		listed[q.ID] = struct{}{}
	}
	for id := range w.open {
		if _, ok := listed[id]; ok {
			continue
		}
		r, err := w.approver.Get(ctx, id)
		switch {
		case hookrouter.CodeOf(err) == hookrouter.CodeNotFound:
			delete(w.open, id)
		case err != nil:
			return err
		case r.Decision != nil:
			w.decided(r.Request, *r.Decision)
		}
	}
	for _, q := range list {
		w.reviewed(q)
		w.asked(q)
	}
	return nil
}

func (w *watcher) reviewed(q approval.Request) {
	if known, open := w.open[q.ID]; open && len(known.Reviews) != len(q.Reviews) {
		w.open[q.ID] = q
		w.handle(approval.Notice{Request: q})
	}
}

func (w *watcher) asked(q approval.Request) {
	_, open := w.open[q.ID]
	_, closed := w.closed[q.ID]
	if open || closed {
		return
	}
	w.open[q.ID] = q
	w.handle(approval.Notice{Request: q})
}

func (w *watcher) decided(q approval.Request, d approval.Decision) {
	if _, closed := w.closed[q.ID]; closed {
		return
	}
	delete(w.open, q.ID)
	if len(w.order) == watchClosed {
		delete(w.closed, w.order[0])
		w.order = w.order[1:]
	}
	w.closed[q.ID] = struct{}{}
	w.order = append(w.order, q.ID)
	w.handle(approval.Notice{Request: q, Decision: &d})
	if w.cut && len(w.open) == 0 {
		w.stale()
	}
}
