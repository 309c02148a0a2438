package registry

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/labels"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Bucket is the configuration of the bucket of registrations. Reads go to the leader: a write that
// finds the delete marker of a key reads it, and routers have no right to direct gets.
func Bucket(name string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{Name: name, Description: "hook registrations", Replicas: replicas, LeaderReads: true}
}

// Compile compiles the condition of a registration; nil if it has none.
type Compile func(chain.Registration) (func(*chain.View) (bool, error), error)

// Options configure a registry. The zero value of each field is its default.
type Options struct {
	// Replica identifies the replica. It must be new at every start.
	Replica string
	// AuditFormat is the newest audit log format that this replica knows, which it announces to the
	// others. 0 announces none, like replicas that know only the first.
	AuditFormat int
	// Lease is how long a replica may use its table without renewing; 0 means 3 s. All replicas
	// must use the same.
	Lease time.Duration
	// TTL is how long an instance lives without renewing; 0 means 15 s.
	TTL time.Duration
	// Labels configures how long labels last.
	Labels labels.Options
	// Forget is the interval at which session records past [labels.Retention] are removed; 0
	// means an hour.
	Forget time.Duration
	// Compile compiles a hook's condition; nil means that no hook has one.
	Compile Compile
	// Record is called before each change; an error prevents the change. Nil means no callback.
	Record func(context.Context, Change) error
	// Listens reports whether a worker listens to the calls of a hook. Only a router that runs the
	// NATS server can tell; nil for the others. It must not block.
	Listens func(hook string) bool
	// Changed is called with the action and the hook after each change that this replica made. It
	// must not block. Nil means no callback.
	Changed func(action, hook string)
	// Log gets registrations and removals at debug, lost leases as warnings; nil discards
	// them.
	Log *slog.Logger
}

// ErrStale means that this replica's hook table may be behind: it can't serve.
var ErrStale = wire.Errorf(wire.Unavailable, "this router's hook table is stale: try again")

// Registry is one replica's view of the registrations.
type Registry struct {
	conn    *natsx.Conn
	bucket  *natsx.Bucket
	options Options

	table      atomic.Pointer[chain.Table]   // swapped by the follower only
	frozen     *orders[frozen]               // by scope
	pins       *orders[pin]                  // by guard
	disabled   *orders[Disabled]             // by hook
	guards     atomic.Pointer[pinned.Guards] // those of pins
	labels     *labels.Table                 // written by the follower only
	lost       atomic.Pointer[loss]          // not accepted yet; nil for none
	lostAt     atomic.Uint64                 // newest revision of the lost record that was read; 0 for none
	unreported atomic.Pointer[loss]          // a loss that is not in the bucket yet
	leaseUntil atomic.Int64                  // nanoseconds since started
	left       atomic.Bool                   // gave up a valid lease
	read       atomic.Uint64                 // the newest received revision: no field reflects a later one, and earlier ones may be missing
	started    time.Time
	turns      turns           // of writers
	settings   *natsx.Settings // of the bucket

	mu         sync.Mutex // guards the fields below
	hooks      map[string]*hook
	known      map[string]*hook  // hooks as of the last time that the whole bucket was read
	knownAt    uint64            // the newest revision that this replica has applied with a lease
	gone       map[string]uint64 // revisions of tombstones, by hook
	accepted   uint64            // the newest revision of an acceptance that was read
	inventory  inventory
	replicas   map[string]*peer
	applied    uint64        // the revision of table
	changed    chan struct{} // closed and replaced at every change of the fields above
	seen       map[instanceKey]time.Time
	heartbeats map[instanceKey]struct{} // for the next broadcast
	renewals   uint64                   // counts this replica's renewals over all leases

	expired atomic.Int64
}

// New makes a registry on a bucket. [Registry.Run] runs it.
func New(c *natsx.Conn, bucket *natsx.Bucket, o Options) *Registry {
	o.Lease = cmp.Or(o.Lease, 3*time.Second)
	o.TTL = cmp.Or(o.TTL, 15*time.Second)
	o.Forget = cmp.Or(o.Forget, time.Hour)
	if o.Compile == nil {
		o.Compile = func(chain.Registration) (func(*chain.View) (bool, error), error) { return nil, nil }
	}
	if o.Record == nil {
		o.Record = func(context.Context, Change) error { return nil }
	}
	if o.Changed == nil {
		o.Changed = func(string, string) {}
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	r := &Registry{conn: c, bucket: bucket, options: o, labels: labels.New(o.Labels), started: time.Now(), changed: make(chan struct{}), heartbeats: map[instanceKey]struct{}{}, settings: bucketSettings(c, o)}
	r.table.Store(&chain.Table{})
	r.guards.Store(pinned.Ordered(nil))
	r.frozen = newOrders(r, freezeKey, readFreeze)
	r.pins = newOrders(r, pinKey, r.readPin)
	r.disabled = newOrders(r, disabledKey, r.readDisabled)
	r.leaseUntil.Store(-1)
	return r
}

// Replica returns the id of this replica.
func (r *Registry) Replica() string { return r.options.Replica }

// TTL returns how long an instance lives without renewing.
func (r *Registry) TTL() time.Duration { return r.options.TTL }

// Table returns the hook table, [ErrStale] if this replica holds no lease, or an error with the
// same code if registrations are lost.
func (r *Registry) Table() (*chain.Table, error) {
	if !r.Current() {
		return nil, ErrStale
	}
	if l := r.lost.Load(); l != nil {
		return nil, l.err()
	}
	return r.table.Load(), nil // read after the lease: a newer table is right too
}

// Current reports whether this replica holds a lease.
func (r *Registry) Current() bool {
	return int64(time.Since(r.started)) < r.leaseUntil.Load()
}

// Counts returns counts for the STATS of service discovery: registered hooks, and instances that
// this replica expired.
func (r *Registry) Counts() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return map[string]int64{"hooks": int64(len(r.hooks)), "expired": r.expired.Load()}
}

// List returns every registration in execution order, from this replica's table.
func (r *Registry) List() []Listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Listing, 0, len(r.hooks))
	for _, h := range r.hooks {
		one := h.listing()
		if d := r.disabled.known()[one.ID]; d.inForce() {
			one.Disabled = &d
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Listing) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Order, b.Order))
	})
	return list
}

// Registered returns the registration with an id; nil for none.
func (r *Registry) Registered(id string) *chain.Registration {
	if h, _ := r.lookup(id); h != nil {
		return &h.Registration
	}
	return nil
}

// InForce returns the registration in force for the hook of reg if it differs from reg; else
// nil.
func (r *Registry) InForce(reg chain.Registration) *chain.Registration {
	h, _ := r.lookup(reg.ID)
	if h == nil || digest(h.Registration) == digest(reg) {
		return nil
	}
	listed := h.listing().Registration
	return &listed
}

// Instances returns the number of live instances of a hook.
func (r *Registry) Instances(id string) int {
	if h, _ := r.lookup(id); h != nil && !h.deserted.Load() {
		return len(h.Instances)
	}
	return 0
}
