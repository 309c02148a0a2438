package router

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/api/agentapi"
	natsapi "github.com/hookrouter/hookrouter/internal/api/nats"
	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/bundle/store"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/freeze"
	"github.com/hookrouter/hookrouter/internal/hookcall"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/natsx/service"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Router is one replica of the router. Call [Router.Run].
type Router struct {
	opts      Options
	conn      *natsx.Conn
	registry  *registry.Registry
	sessions  *session.Store
	approvals *approvals.Service
	guards    *pinned.All
	policies  *store.Store
	audit     *auditlog.Log
	dispatch  *dispatch.Dispatcher
	agents    *agentapi.API
	observer  *observer
	buckets   *natsx.Settings
}

// New makes a router on a connection, and creates missing buckets and streams.
func New(ctx context.Context, conn *natsx.Conn, o Options) (*Router, error) {
	o = o.withDefaults()
	if err := o.check(conn.MaxPayload()); err != nil {
		return nil, err
	}
	r := &Router{opts: o, conn: conn, observer: newObserver(o.Telemetry), buckets: requiredBuckets(conn, o)}
	replica := events.NewID()
	hooks, err := conn.OpenBucket(ctx, registry.Bucket(conn.Bucket(), o.Replicas))
	if err != nil {
		return nil, err
	}
	o.Audit.Replicas, o.Audit.Recorder.ID, o.Audit.Recorder.Wrote = o.Replicas, replica, r.observer.metrics.Wrote
	o.Audit.Signer.Upgraded, o.Audit.Log = r.upgraded, o.Log
	if r.audit, err = auditlog.Open(ctx, conn, o.Audit); err != nil {
		return nil, err
	}
	r.observer.auditMode = string(r.audit.Mode())
	o.Registry.Replica, o.Registry.AuditFormat, o.Registry.Log = replica, int(audit.Latest), o.Log
	o.Registry.Record, o.Registry.Changed, o.Registry.Compile = r.recordChange, r.observer.metrics.Registry, dispatch.Narrowed(o.Identities, match.Condition)
	r.registry = registry.New(conn, hooks, o.Registry)
	r.guards = pinned.With(o.Guards, r.registry)
	if err := r.openCoordinator(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// openCoordinator opens the sessions and the approvals, and makes the dispatcher on top of them.
func (r *Router) openCoordinator(ctx context.Context) error {
	states, err := r.conn.OpenBucket(ctx, session.Bucket(r.conn.Prefix(), r.opts.Replicas))
	if err != nil {
		return err
	}
	requests, err := r.conn.OpenBucket(ctx, approvals.Bucket(r.conn.Prefix(), r.opts.Replicas))
	if err != nil {
		return err
	}
	policies, err := r.conn.OpenBucket(ctx, store.Bucket(r.conn.Prefix(), r.opts.Replicas))
	if err != nil {
		return err
	}
	r.policies = store.New(policies)
	r.sessions = session.New(states, r.opts.Log)
	o := r.opts
	o.Approvals.People, o.Approvals.Sessions, o.Approvals.Log = o.People, r.sessions, o.Log
	o.Approvals.Mask, o.Approvals.MaskText = o.Dispatch.PublishData.Mask(o.ApprovalMask), r.audit.View().Text
	r.approvals = approvals.New(r.conn, requests, r.audit.Store(), o.Approvals)
	o.Dispatch.Guards = r.guards
	r.dispatch = dispatch.New(dispatch.Dependencies{
		Hooks: r.registry, Freezes: r.registry, Transport: hookcall.New(r.conn, r.opts.MaxReply, r.registry.NobodyListens),
		Sessions: r.sessions, Approvals: r.approvals, Labels: r.registry,
		Journal: r.audit, View: r.audit.View(), Observer: r.observer,
	}, o.Dispatch)
	r.approvals.Bind(r.dispatch)
	r.agents = agentapi.New(agentapi.Options{
		Dispatcher: r.dispatch, Sessions: r.sessions, Ready: r.Ready, AuditMode: string(r.audit.Mode()), MaxData: r.opts.Dispatch.MaxData, MaxInFlight: r.opts.MaxInFlight,
		ForwardBaggage: r.opts.ForwardBaggage, Refused: r.observer.metrics.Refused,
	})
	return nil
}

// Agents returns the API that decides events, for servers in this process. It serves while the
// router runs.
func (r *Router) Agents() *agentapi.API { return r.agents }

// Approvals returns the service of approval requests, for servers in this process.
func (r *Router) Approvals() approval.Service { return r.approvals }

// Reveal returns an approval request with its secrets unmasked, after recording that.
func (r *Router) Reveal(ctx context.Context, id, by string) (approval.Record, error) {
	return r.dispatch.Reveal(ctx, id, by)
}

// Registry returns the JSON of hooks.registry. The error means that this replica's table is
// stale.
func (r *Router) Registry(context.Context) ([]byte, error) {
	if !r.registry.Current() {
		return nil, registry.ErrStale
	}
	return jsonv2.Marshal(r.registry.List())
}

// Freeze puts an order into force. After it returns, no replica permits anything that the order
// covers.
func (r *Router) Freeze(ctx context.Context, order freeze.Order) error {
	return r.dispatch.Freeze(ctx, order)
}

// Freezes returns the orders in force. The error means that this replica's table is stale.
func (r *Router) Freezes() ([]freeze.Order, error) { return r.registry.Freezes() }

// Ready reports why this replica can't serve at the moment, or nil.
func (r *Router) Ready() error {
	if !r.conn.Connected() || !cmp.Or(r.opts.Requests, r.conn).Connected() {
		return errors.New("the connection to NATS is down")
	}
	if err := errors.Join(r.audit.Ready(), r.buckets.Err()); err != nil {
		return err
	}
	return r.registry.Ready()
}

// Run serves until ctx ends, then takes no more requests, answers those it took, and gives up
// the lease. It calls up once when the router serves; up may be nil.
func (r *Router) Run(ctx context.Context, up func()) error {
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	var records sync.WaitGroup
	records.Go(func() { r.audit.Run(recording) })
	r.opts.Identities.Report(r.recordIdentities)
	defer records.Wait() // once nothing is left to record
	defer stopRecording()

	following, stopFollowing := context.WithCancel(context.WithoutCancel(ctx))
	var state sync.WaitGroup
	defer state.Wait()
	defer stopFollowing()
	failed := make(chan error, 1)
	starting, started := context.WithCancelCause(ctx)
	state.Go(func() {
		err := r.registry.Run(following)
		started(err)
		failed <- err
	})
	state.Go(func() { r.sessions.Run(following) })
	state.Go(func() { r.approvals.Run(following) })
	state.Go(func() { r.buckets.Watch(following) })
	if err := r.waitLoaded(starting); err != nil {
		return err
	}
	server, err := r.serve()
	if err != nil {
		return err
	}
	r.agents.Serve()
	if up != nil {
		up()
	}
	unwatch, err := r.opts.Telemetry.Watch(func() telemetry.State { return r.state(server) })
	if err != nil {
		return errors.Join(err, r.agents.Drain(ctx), server.Stop(ctx))
	}
	defer unwatch()
	if r.observer.metrics != nil {
		state.Go(func() { r.observer.countApprovals(following, r.approvals) })
	}
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	served := make(chan struct{})
	go func() { defer close(served); server.Run(serving) }()
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stopServing()
	<-served
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.DrainTimeout)
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- r.agents.Drain(drain) }()
	err = errors.Join(err, server.Stop(drain), <-drained)
	r.dispatch.Wait()
	return err
}

// waitLoaded waits until the hook table is current and checked against the audit log, and the
// open approval requests are known.
func (r *Router) waitLoaded(ctx context.Context) error {
	if err := r.registry.WaitCurrent(ctx); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	if err := r.registry.CheckSettings(ctx); err != nil {
		return err
	}
	if err := r.registry.CheckEmpty(ctx, r.audit.KnownHook); err != nil {
		return err
	}
	select {
	case <-r.approvals.Loaded():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// serve starts to answer on the subjects of the wire protocol.
func (r *Router) serve() (*natsapi.Server, error) {
	metadata := map[string]string{"prefix": r.conn.Prefix(), "replica": r.registry.Replica(), "audit": string(r.audit.Mode())}
	if key := r.opts.Audit.Key; key != nil {
		metadata["audit_key"] = key.Public
	}
	return natsapi.Start(natsapi.Options{
		Conn: cmp.Or(r.opts.Requests, r.conn), Agents: r.agents, Registry: r.registry, Approvals: r.approvals, Sessions: r.sessions,
		Compile: func(reg chain.Registration) error { _, err := match.Condition(reg); return err },
		Ready:   r.Ready, Version: r.opts.Version, Metadata: metadata, Limits: r.opts.Dispatch.Injection,
		Accounts: r.opts.Accounts, Guards: r.guards, Identities: r.opts.Identities, ServerKey: r.opts.ServerKey, Policies: r.policies,
		Record:  func(ctx context.Context, one audit.Record) error { return r.audit.Record(ctx, one.Append(nil)) },
		Refused: r.observer.metrics.Refused, MaxPerAgent: r.opts.Dispatch.MaxPerAgent, Flooded: r.flooded, Log: r.opts.Log,
	})
}

func (r *Router) flooded(account string) {
	r.opts.Log.Warn("requests flood the router", "account", account, "refused_per_second", service.MaxRefusals)
	if r.opts.Flooded != nil {
		r.opts.Flooded(account)
	}
}

// upgraded reports whether every replica knows the latest format of the audit log.
func (r *Router) upgraded() bool {
	oldest, known := r.registry.AuditFormat()
	return known && oldest >= int(audit.Latest)
}

// recordChange records a change of a registration before it is made.
func (r *Router) recordChange(ctx context.Context, c registry.Change) error {
	return r.audit.Record(ctx, audit.Record{
		Time: time.Now(), Kind: audit.RegistrationKind, Session: c.Session, Hook: c.Hook, Action: c.Action,
		Detail: audit.Change{Revision: int64(c.Revision), By: c.By, Instance: c.Instance, Reason: c.Reason, Registration: r.audit.View().Registration(c.Registration)},
	}.Append(nil))
}
