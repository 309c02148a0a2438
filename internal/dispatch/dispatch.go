package dispatch

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// PublishData selects how much of an event's data watchers see.
type PublishData string

// The values of PublishData. The zero value means [PublishFull].
const (
	PublishFull     PublishData = "full"
	PublishRedacted PublishData = "redacted"
	PublishNone     PublishData = "none"
)

// Options configure a dispatcher. The zero value of each field but Approvers and Workers is its default.
type Options struct {
	// MaxData is the largest event data, in bytes; 0 means 512 KiB.
	MaxData int
	// MaxPerSession bounds the requests in flight of one session; 0 means 64.
	MaxPerSession int
	// MaxPerAgent bounds those of one proven agent; 0 means 256.
	MaxPerAgent int
	// ChainTimeout bounds a chain. Agents may ask for less; 0 means 30 s.
	ChainTimeout time.Duration
	// CollectTimeout bounds a collect that sets no time-out; 0 means 1 s.
	CollectTimeout time.Duration
	// PublishData is what watchers see of the data; empty means all.
	PublishData PublishData
	// Injection bounds what hooks inject; 0 means the protocol's limits.
	Injection verdict.Limits
	// NoApprovals means that no person can be asked: an ask_user denies at once.
	NoApprovals bool
	// ReplayWindow is how long a granted event may be repeated and permitted again; 0 means 5
	// min.
	ReplayWindow time.Duration
	// Rules decide approval requests before a person is asked; nil for none.
	Rules Rules
	// Approvers knows which approvals the operator requires. Required.
	Approvers Approvers
	// Guards are the hooks that an operator pinned; nil for none.
	Guards Guards
	// Workers knows what the workers' credentials permit. Required.
	Workers Workers
	// UnknownEvents says how to treat an event that is neither standard nor named by a hook;
	// empty allows it.
	UnknownEvents UnknownEvents
	// ConsoleURL is the address of the console, without a trailing slash. Each denial carries
	// the address of the page that explains it; empty for none.
	ConsoleURL string
	// Notify is called for each approval request that this replica opened or decided. It must
	// not block. Its context names the span. Nil for none.
	Notify func(context.Context, approval.Notice)
	// Log gets denials, refusals and approvals at info or above, and other events at debug; nil
	// discards them.
	Log *slog.Logger
}

// Rules decide approval requests from their facts. They may change between two requests.
// [approval.Rules] implements it.
type Rules interface {
	Match(facts approval.Facts) (rule approval.Rule, found bool)
	// Shadow returns the shadow rule that would decide if Match finds none.
	Shadow(facts approval.Facts) (rule approval.Rule, found bool)
}

// WithDefaults sets the fields that have their zero value.
func (o Options) WithDefaults() Options {
	o.MaxData = cmp.Or(o.MaxData, 512<<10)
	o.MaxPerSession = cmp.Or(o.MaxPerSession, 64)
	o.MaxPerAgent = cmp.Or(o.MaxPerAgent, 256)
	o.ChainTimeout = cmp.Or(o.ChainTimeout, 30*time.Second)
	o.CollectTimeout = cmp.Or(o.CollectTimeout, time.Second)
	o.ReplayWindow = cmp.Or(o.ReplayWindow, 5*time.Minute)
	if o.Rules == nil {
		o.Rules = approval.Rules(nil)
	}
	if o.Notify == nil {
		o.Notify = func(context.Context, approval.Notice) {}
	}
	o.PublishData = cmp.Or(o.PublishData, PublishFull)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// Dependencies are the dependencies of a dispatcher. All are required.
type Dependencies struct {
	Hooks     Hooks
	Freezes   Freezes
	Transport Transport
	Sessions  Sessions
	Approvals Approvals
	Labels    Labels
	Journal   Journal
	View      View
	Observer  Observer
}

// Dispatcher decides events. It is safe for concurrent use. Call [Dispatcher.Wait] before the
// transport closes.
type Dispatcher struct {
	opts      Options
	hooks     Hooks
	freezes   Freezes
	transport Transport
	sessions  Sessions
	approvals Approvals
	labels    Labels
	journal   Journal
	view      View
	observer  Observer

	sessionSlots slots
	senderSlots  slots
	asyncSlots   slots // of calls in mode async
	unknown      unknown
	shadowCalls  errgroup.Group
	asyncCalls   errgroup.Group
	counters     counters
	log          *slog.Logger
}

// New makes a dispatcher.
func New(deps Dependencies, o Options) *Dispatcher {
	o = o.WithDefaults()
	d := &Dispatcher{
		opts: o, log: o.Log,
		hooks: deps.Hooks, freezes: deps.Freezes, transport: deps.Transport, sessions: deps.Sessions,
		approvals: deps.Approvals, labels: deps.Labels, journal: deps.Journal, view: deps.View, observer: deps.Observer,
		sessionSlots: slots{limit: o.MaxPerSession, of: "session"}, senderSlots: slots{limit: o.MaxPerAgent, of: "agent"}, asyncSlots: slots{limit: maxAsyncPerAgent, of: "agent"},
	}
	d.shadowCalls.SetLimit(maxShadow)
	d.asyncCalls.SetLimit(maxAsync)
	return d
}

// Wait waits for the shadow and async calls in flight.
func (d *Dispatcher) Wait() {
	_ = d.shadowCalls.Wait() // the calls return no errors
	_ = d.asyncCalls.Wait()
}

// Counters returns totals since the start, for service discovery: calls of shadow hooks, hooks that
// failed open, failures by class.
func (d *Dispatcher) Counters() map[string]int64 { return d.counters.snapshot() }
