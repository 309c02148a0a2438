package console

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

const (
	feedRest    = 50 * time.Millisecond // between two lists
	feedRetry   = time.Second           // after a failed read
	feedTimeout = 5 * time.Second       // for reading a list
	feedList    = 200                   // approval requests in a message
	feedBytes   = 1 << 20               // of them in a message
)

// feed watches the approvals and notifies long polls and sockets of changes.
type feed struct {
	approvals approval.Service
	source    func(func(Event)) (func(), error)
	log       *slog.Logger
	poke      chan struct{} // a new socket has no list yet

	mu      sync.Mutex    // guards the fields below; not held while approvals or source are called
	changed chan struct{} // closed and replaced with each change
	sockets map[*outbox]struct{}

	subscription sync.Mutex // guards the fields below; held while source is called
	watchers     int
	unsubscribe  func() // nil while no page is open
}

func newFeed(o Options) feed {
	return feed{
		approvals: o.Approvals, source: o.Events, log: o.Log, poke: make(chan struct{}, 1),
		changed: make(chan struct{}), sockets: map[*outbox]struct{}{},
	}
}

// run announces changes until ctx ends: the first one at once, then batches after a pause.
func (f *feed) run(ctx context.Context, notices <-chan approval.Notice) {
	var rest <-chan time.Time // nil while not resting
	again := false
	for {
		select {
		case <-ctx.Done():
			return
		case notice, ok := <-notices:
			if !ok {
				notices = nil
				continue
			}
			if notice.Decision != nil {
				f.decided(notice)
			}
			again = true
		case <-f.poke:
			again = true
		case <-rest:
			rest = nil
		}
		if !again || rest != nil {
			continue
		}
		again, rest = false, time.After(feedRest)
		if err := f.notify(ctx); err != nil && ctx.Err() == nil {
			f.log.Warn("approvals not listed for the console", "error", err)
			again, rest = true, time.After(feedRetry)
		}
	}
}

// changes returns a channel that closes at the next change.
func (f *feed) changes() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// notify wakes the long polls and sends the current list to the sockets.
func (f *feed) notify(ctx context.Context) error {
	f.mu.Lock()
	close(f.changed)
	f.changed = make(chan struct{})
	noSockets := len(f.sockets) == 0
	f.mu.Unlock()
	if noSockets {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, feedTimeout)
	defer cancel()
	list, total, err := f.approvals.Pending(ctx, approval.Filter{Limit: feedList, Room: feedBytes})
	if err != nil {
		return err
	}
	text, err := json.Marshal(struct {
		Type      string             `json:"type"`
		Approvals []approval.Request `json:"approvals"`
		Total     int                `json:"total"`
		Now       approval.Time      `json:"now"` // countdowns are by the router's clock
	}{"approvals", append([]approval.Request{}, list...), total, approval.At(time.Now())}) // [], not null
	if err != nil {
		return err
	}
	f.each(func(out *outbox) { out.list(text) })
	return nil
}

func (f *feed) decided(notice approval.Notice) {
	text, err := json.Marshal(struct {
		Type     string             `json:"type"`
		ID       string             `json:"id"`
		Decision *approval.Decision `json:"decision"`
	}{"decided", notice.Request.ID, notice.Decision})
	if err != nil {
		f.log.Error("decision not published to the console", "error", err)
		return
	}
	f.each(func(out *outbox) { out.decision(text) })
}

func (f *feed) event(ev Event) {
	text, err := ev.message()
	if err != nil {
		f.log.Debug("event left out of the console", "event", ev.Name, "error", err)
		return
	}
	f.each(func(out *outbox) { out.event(text) })
}

func (f *feed) each(do func(*outbox)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for out := range f.sockets {
		do(out)
	}
}

// join adds a socket, unless there are too many. Live events are read from the first socket to
// the last.
func (f *feed) join() (out *outbox, leave func(), ok bool) {
	out = newOutbox()
	f.mu.Lock()
	if len(f.sockets) >= maxSockets {
		f.mu.Unlock()
		return nil, nil, false
	}
	f.sockets[out] = struct{}{}
	f.mu.Unlock()
	f.subscribe()
	select {
	case f.poke <- struct{}{}:
	default: // a list is on its way
	}
	return out, func() {
		f.mu.Lock()
		delete(f.sockets, out)
		f.mu.Unlock()
		f.leave()
	}, true
}

func (f *feed) subscribe() {
	f.subscription.Lock()
	defer f.subscription.Unlock()
	f.watchers++
	if f.unsubscribe != nil || f.source == nil {
		return
	}
	stop, err := f.source(f.event)
	if err != nil {
		f.log.Warn("live events unavailable in the console", "error", err)
		return
	}
	f.unsubscribe = stop
}

func (f *feed) leave() {
	f.subscription.Lock()
	defer f.subscription.Unlock()
	f.watchers--
	if f.watchers == 0 && f.unsubscribe != nil {
		f.unsubscribe()
		f.unsubscribe = nil
	}
}
