package dispatch

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// PublishData says how much of an event's data watchers see.
type PublishData string

// What watchers may see. The zero value means [PublishFull].
const (
	PublishFull     PublishData = "full"
	PublishRedacted PublishData = "redacted"
	PublishNone     PublishData = "none"
)

// Options configure a dispatcher. The zero value of each field is its default.
type Options struct {
	// MaxData is the largest event data, in bytes; 0 means 512 KiB.
	MaxData int
	// MaxPerSession is how many requests of one session may be under way; 0 means 64.
	MaxPerSession int
	// MaxPerAgent is how many of one agent, as far as connections prove who sends; 0 means
	// 256.
	MaxPerAgent int
	// ChainTimeout bounds a chain, and is the most an agent may ask for; 0 means 30 s.
	ChainTimeout time.Duration
	// CollectTimeout bounds a collect that names no time; 0 means 1 s.
	CollectTimeout time.Duration
	// PublishData is what watchers see of the data; empty means all.
	PublishData PublishData
	// Injection bounds what hooks inject; 0 means the protocol's limits.
	Injection verdict.Limits
	// NoApprovals means that nobody can be asked: an ask_user denies at once.
	NoApprovals bool
	// ReplayWindow is how long after a decision a permission is given again to the same
	// event; 0 means 5 min.
	ReplayWindow time.Duration
	// Rules decide approval requests before a person is asked; nil for none.
	Rules Rules
	// Approvers knows whose approval it takes; nil for anybody's.
	Approvers Approvers
	// Guards are the hooks that an operator pinned; nil for none.
	Guards Guards
	// Workers knows what the credentials of workers allow; nil allows everything.
	Workers Workers
	// UnknownEvents says what becomes of an event that is neither standard nor named by
	// a hook; empty means that it is allowed.
	UnknownEvents UnknownEvents
	// ConsoleURL is where the console is, without a slash at its end: each denial that an
	// agent gets has the address of its page. Empty for none.
	ConsoleURL string
	// Notify is called for each approval request that this replica opened or decided;
	// it must not block. The context names the span. Nil for nobody.
	Notify func(context.Context, approval.Notice)
	// Log gets a line for each denial, refusal and approval at info or above, and for other
	// events at debug; nil discards it.
	Log *slog.Logger
}

// Rules decide approval requests by what is known of them; they may change between two
// requests. [approval.Rules] do.
type Rules interface {
	Match(facts approval.Facts) (rule approval.Rule, found bool)
	// Shadow is the rule in shadow that would decide where Match finds none.
	Shadow(facts approval.Facts) (rule approval.Rule, found bool)
}

func (o Options) withDefaults() Options {
	o.MaxData = cmp.Or(o.MaxData, 512<<10)
	if o.Workers == nil {
		o.Workers = everything{}
	}
	o.MaxPerSession = cmp.Or(o.MaxPerSession, 64)
	o.MaxPerAgent = cmp.Or(o.MaxPerAgent, 256)
	o.ChainTimeout = cmp.Or(o.ChainTimeout, 30*time.Second)
	o.CollectTimeout = cmp.Or(o.CollectTimeout, time.Second)
	o.ReplayWindow = cmp.Or(o.ReplayWindow, 5*time.Minute)
	if o.Approvers == nil {
		o.Approvers = noApprovers{}
	}
	if o.Rules == nil {
		o.Rules = approval.Rules(nil)
	}
	o.PublishData = cmp.Or(o.PublishData, PublishFull)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// Dependencies are what a dispatcher works with. All are required, but for
// Labels, and for Approvals with [Options].NoApprovals.
type Dependencies struct {
	Hooks     Hooks
	Freezes   Freezes
	Transport Transport
	Sessions  Sessions
	Approvals Approvals
	Labels    Labels // nil: no hook may add one
	Journal   Journal
	View      View
	Observer  Observer
}

// Dispatcher decides events. It is safe for concurrent use. [Dispatcher.Wait] for
// its calls in mode shadow and async before the transport closes.
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

	seats      seats // of sessions
	senders    seats
	unknown    unknown
	shadows    shadows
	lates      shadows
	latecomers seats // calls in mode async
	counters   counters
	log        *slog.Logger
}

// New makes a dispatcher.
func New(deps Dependencies, o Options) *Dispatcher {
	o = o.withDefaults()
	if deps.Labels == nil {
		deps.Labels = noLabels{}
	}
	return &Dispatcher{
		opts: o, log: o.Log,
		hooks: deps.Hooks, freezes: deps.Freezes, transport: deps.Transport, sessions: deps.Sessions,
		approvals: deps.Approvals, labels: deps.Labels, journal: deps.Journal, view: deps.View, observer: deps.Observer,
		seats: seats{limit: o.MaxPerSession, of: "session"}, senders: seats{limit: o.MaxPerAgent, of: "agent"}, shadows: newShadows(maxShadows),
		lates: newShadows(maxLates), latecomers: seats{limit: maxLatesOfOne, of: "agent"},
	}
}

// Wait waits for the calls in mode shadow and async that are under way.
func (d *Dispatcher) Wait() {
	d.shadows.wait()
	d.lates.wait()
}

// Counters are totals since the start, for service discovery: calls of shadow hooks,
// hooks that failed open, failures by class.
func (d *Dispatcher) Counters() map[string]int64 { return d.counters.snapshot() }
