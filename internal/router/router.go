package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/session"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// PublishData says what of an event's data observers get.
type PublishData string

// What observers may read. The zero value means [PublishFull].
const (
	PublishFull     PublishData = "full"
	PublishRedacted PublishData = "redacted"
	PublishNone     PublishData = "none"
)

// Options configure a router. The zero value of each field is its default.
type Options struct {
	// Version of the program, for discovery; empty means 0.0.0.
	Version string
	// Replicas of the registry's bucket, where it has to be made; 0 picks.
	Replicas int
	// MaxData is the largest event data, in bytes; 0 means 512 KiB.
	MaxData int
	// MaxReply is the largest reply of a hook, in bytes; 0 means 512 KiB.
	MaxReply int
	// MaxInFlight is how many requests of agents may be under way; 0 means 1024.
	MaxInFlight int
	// MaxPerSession is the same for one session; 0 means 64.
	MaxPerSession int
	// ChainTimeout bounds a chain, and is the most an agent may ask for; 0 means 30 s.
	ChainTimeout time.Duration
	// CollectTimeout bounds a collect that names no time; 0 means 1 s.
	CollectTimeout time.Duration
	// DrainTimeout bounds how long Run waits for what was taken; 0 means 30 s.
	DrainTimeout time.Duration
	// PublishData is what observers get of the data; empty means all.
	PublishData PublishData
	// Injection bounds what hooks inject; 0 means the protocol's limits.
	Injection verdict.Limits
	// NoApprovals means that there is nobody to ask: a question denies at once.
	NoApprovals bool
	// MaxQuestions is how many questions may be open, and MaxQuestionsPerSession in
	// one session; 0 means 50,000 and 100.
	MaxQuestions, MaxQuestionsPerSession int
	// Rules answer questions before a person is asked.
	Rules approval.Rules
	// ProvenOnly refuses answers to questions from nobody that the connection proves.
	ProvenOnly bool
	// Notify is told of each question that this replica put or decided; it must not
	// wait. The context names the span that the news is about. Nil for nobody.
	Notify func(context.Context, approval.Notice)
	// Audit says whether answers wait for their records; empty means that they do.
	Audit recorder.Mode
	// AuditTimeout is how long; 0 means 500 ms. Then the answer is a refusal.
	AuditTimeout time.Duration
	// AuditData says what of an event's data records hold; empty means the data with its
	// secrets masked, by AuditMask; nil masks the usual forms.
	AuditData recorder.Data
	AuditMask recorder.Masker
	// AuditKey signs the audit log; nil leaves it without checkpoints.
	AuditKey *signer.Key
	// Accounts takes what the NATS server says of a request from another account as
	// who sent it. Only where agents and approvers are in accounts of their own.
	Accounts bool
	// Telemetry is told what happens; nil for nobody.
	Telemetry *telemetry.Telemetry
	// ForwardBaggage passes the W3C baggage of a request on to hooks. It may hold
	// anything that the agent's program put there.
	ForwardBaggage bool
	// TTL and Lease are those of the registry; 0 means its defaults.
	TTL, Lease time.Duration
	// Log gets one line per event at info; nil discards it.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	def := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	defTime := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&o.MaxData, 512<<10)
	def(&o.MaxReply, 512<<10)
	def(&o.MaxInFlight, 1024)
	def(&o.MaxPerSession, 64)
	defTime(&o.ChainTimeout, 30*time.Second)
	defTime(&o.CollectTimeout, time.Second)
	defTime(&o.DrainTimeout, 30*time.Second)
	if o.Audit == "" {
		o.Audit = recorder.Strict
	}
	if o.Version == "" {
		o.Version = "0.0.0"
	}
	if o.PublishData == "" {
		o.PublishData = PublishFull
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// headerRoom is what headers and the envelope of a request may need beside the
// data, in bytes.
const headerRoom = 32 << 10

// minTTL is the shortest time-to-live of an instance that makes sense.
const minTTL = 300 * time.Millisecond

// check refuses limits that can't work.
func (o Options) check(maxPayload int64) error {
	switch {
	case o.MaxData < 0 || o.MaxReply < 0 || o.MaxInFlight < 0 || o.MaxPerSession < 0 || o.ChainTimeout < 0 || o.DrainTimeout < 0:
		return errors.New("limits of the router must not be negative")
	case int64(o.MaxData)+headerRoom > maxPayload:
		return fmt.Errorf("data of %d bytes with its headers does not fit the NATS server's max_payload of %d: "+
			"set --max-data to at most %d, or raise max_payload", o.MaxData, maxPayload, maxPayload-headerRoom)
	case int64(o.MaxReply)+headerRoom > maxPayload:
		return fmt.Errorf("a hook's reply of %d bytes, passed on to the next hook, does not fit the NATS server's max_payload of %d: "+
			"set --max-reply to at most %d, or raise max_payload", o.MaxReply, maxPayload, maxPayload-headerRoom)
	case o.TTL != 0 && o.TTL < minTTL:
		return fmt.Errorf("a time-to-live of %v is too short for renewals to arrive: set --ttl to at least %v", o.TTL, minTTL)
	}
	switch o.PublishData {
	case PublishFull, PublishRedacted, PublishNone:
		return nil
	}
	return fmt.Errorf(`publish-data is %q: "full", "redacted" or "none"`, o.PublishData)
}

// Router is one replica.
type Router struct {
	Options
	bus      *natsx.Conn
	registry *registry.Registry
	sessions sessions
	states   *session.Store
	desk     *approvals.Service
	counts   counts
	beside   beside
	audit    *auditlog.Log
	watched
	slots     natsx.Limiter // of requests of agents
	auditMode []string      // the header of every answer

	// Of Run alone.
	agents []natsx.Endpoint // what this replica answers agents on, as long as it is ready
	leave  []func()         // stops answering on them; nil while it does not
}

// New makes a router on a bus, and the registry's bucket where it is missing.
// Run it.
func New(ctx context.Context, b *natsx.Conn, o Options) (*Router, error) {
	o = o.withDefaults()
	if err := o.check(b.MaxPayload()); err != nil {
		return nil, err
	}
	bucket, err := b.OpenBucket(ctx, registry.Bucket(b.Bucket(), o.Replicas))
	if err != nil {
		return nil, err
	}
	r := &Router{Options: o, bus: b, auditMode: []string{string(o.Audit)}}
	replica := events.NewID()
	if o.Telemetry != nil {
		r.metrics, r.tracer = o.Telemetry.Metrics, o.Telemetry.Tracer
	}
	r.slots = natsx.NewLimiter(o.MaxInFlight)
	r.audit, err = auditlog.Open(ctx, b, auditlog.Options{
		Replica: replica, Replicas: o.Replicas, Mode: o.Audit, Timeout: o.AuditTimeout, Data: o.AuditData, Mask: o.AuditMask, Key: o.AuditKey,
		Upgraded: r.upgraded, Wrote: r.metrics.Wrote, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	if err := r.openCoordinator(ctx); err != nil {
		return nil, err
	}
	r.sessions.limit = o.MaxPerSession
	r.beside.slots = natsx.NewLimiter(shadowLimit)
	r.registry = registry.New(b, bucket, registry.Options{
		Replica: replica, AuditFormat: int(audit.Latest), Record: r.recordChange, Changed: r.metrics.Registry, Lease: o.Lease, TTL: o.TTL, Compile: compile, Log: o.Log,
	})
	return r, nil
}

// openCoordinator opens what execute needs: the states of sessions, the
// questions, and the stream that holds the decisions.
func (r *Router) openCoordinator(ctx context.Context) error {
	states, err := r.bus.OpenBucket(ctx, session.Bucket(r.bus.Prefix(), r.Replicas))
	if err != nil {
		return err
	}
	questions, err := r.bus.OpenBucket(ctx, approvals.Bucket(r.bus.Prefix(), r.Replicas))
	if err != nil {
		return err
	}
	r.states = session.New(states, r.Log)
	o := approvals.Options{
		MaxOpen: r.MaxQuestions, MaxPerSession: r.MaxQuestionsPerSession, ProvenOnly: r.ProvenOnly,
		Remember: r.remember, Decided: r.announceDecision, Mask: r.mask(), MaskText: r.audit.View().Text, Log: r.Log,
	}
	r.desk = approvals.New(r.bus, questions, r.audit.Store(), o)
	return nil
}

// Desk is where questions are answered, for those who serve people in this
// process.
func (r *Router) Desk() approval.Service { return r.desk }

// Registry is the JSON of hooks.registry. The error says that this replica is not
// current.
func (r *Router) Registry(context.Context) ([]byte, error) {
	if !r.registry.Current() {
		return nil, registry.ErrStale
	}
	return jsonv2.Marshal(r.registry.List())
}

// Ready reports why this replica can't serve at the moment, or nil.
func (r *Router) Ready() error {
	if !r.bus.Connected() {
		return errors.New("the connection to NATS is down")
	}
	if err := r.audit.Ready(); err != nil {
		return err
	}
	_, err := r.registry.Table()
	return err
}

// Run serves until ctx ends, then takes nothing more, answers what was taken,
// and gives its lease up. up is called once when the router serves; it may be
// nil.
func (r *Router) Run(ctx context.Context, up func()) error {
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	var records sync.WaitGroup
	records.Go(func() { r.audit.Run(recording) })
	defer records.Wait() // when nothing is left to record
	defer stopRecording()

	following, stopFollowing := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	failed := make(chan error, 1)
	starting, started := context.WithCancelCause(ctx)
	wg.Go(func() {
		err := r.registry.Run(following)
		started(err)
		failed <- err
	})
	wg.Go(func() { r.states.Run(following) })
	wg.Go(func() { r.desk.Run(following) })
	defer wg.Wait()
	defer stopFollowing()

	if err := r.registry.WaitCurrent(starting); err != nil {
		return errors.Join(err, context.Cause(starting))
	}
	select {
	case <-r.desk.Loaded():
	case <-starting.Done():
		return context.Cause(starting)
	}
	service, err := r.serve()
	if err != nil {
		return err
	}
	if up != nil {
		up()
	}
	unwatch, err := r.Telemetry.Watch(r.state)
	if err != nil {
		return errors.Join(err, service.Stop(ctx))
	}
	defer unwatch()
	if r.metrics != nil {
		wg.Go(func() { r.countQuestions(following) })
	}
	attending, leave := context.WithCancel(ctx)
	defer leave()
	attended := make(chan struct{})
	go func() { defer close(attended); r.attend(attending, service) }()
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	leave()
	<-attended
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.DrainTimeout)
	defer cancel()
	err = errors.Join(err, service.Stop(drain))
	r.beside.wait()
	return err
}

// metadata is what the discovery says of this replica.
func (r *Router) metadata() map[string]string {
	m := map[string]string{"prefix": r.bus.Prefix(), "replica": r.registry.Replica(), "audit": string(r.Audit)}
	if r.AuditKey != nil {
		m["audit_key"] = r.AuditKey.Public
	}
	return m
}

// serve starts to answer on every subject of the protocol.
func (r *Router) serve() (*natsx.Service, error) {
	service, err := r.bus.Serve("hook-router", r.Version, r.metadata())
	if err != nil {
		return nil, err
	}
	operators := natsx.NewLimiter(256)
	for _, e := range []natsx.Endpoint{
		{Name: "handlers", Subject: r.bus.Of("handlers"), Limiter: operators, Wait: true, Handle: r.handlers},
		{Name: "handlers-of", Subject: r.bus.Of("handlers", ">"), Limiter: operators, Wait: true, Handle: r.handlers},
		{Name: "registry", Subject: r.bus.Of("registry"), Limiter: operators, Wait: true, Handle: r.list},
		{Name: "explain", Subject: r.bus.Of("explain", ">"), Limiter: operators, Wait: true, Handle: r.explain},
		{Name: "register", Subject: r.bus.Of("register", "*"), Limiter: operators, Wait: true, Handle: r.register, Data: r.registry.Counts},
		{Name: "unregister", Subject: r.bus.Of("unregister", "*"), Limiter: operators, Wait: true, Handle: r.unregister},
		{Name: "approvals", Subject: r.bus.Of("approvals"), Limiter: operators, Wait: true, Handle: r.pending},
		{Name: "approval", Subject: r.bus.Of("approval", "*"), Limiter: operators, Wait: true, Handle: r.showQuestion},
		{Name: "approve", Subject: r.bus.Of("approve", "*"), Limiter: operators, Wait: true, Handle: r.approve},
		{Name: "session-turn", Subject: r.bus.Of("session", "turn"), Limiter: operators, Wait: true, Handle: r.turn},
		{Name: "session-end", Subject: r.bus.Of("session", "end"), Limiter: operators, Wait: true, Handle: r.endSession},
		{Name: "session-show", Subject: r.bus.Of("session", "show"), Limiter: operators, Wait: true, Handle: r.showSession},
		{Name: "session-revoke", Subject: r.bus.Of("session", "revoke"), Limiter: operators, Wait: true, Handle: r.revoke},
	} {
		e.Queue, e.OnError = r.bus.QueueGroup(), r.refusals(e.Name)
		if _, err := service.Add(e); err != nil {
			return nil, errors.Join(err, service.Stop(context.Background()))
		}
	}
	r.agents = r.agentEndpoints()
	if err := r.listen(service); err != nil {
		return nil, errors.Join(err, service.Stop(context.Background()))
	}
	return service, nil
}

// compile turns a match expression into a link's condition.
func compile(reg chain.Registration) (func(*chain.View) (bool, error), error) {
	if reg.Match == "" {
		return nil, nil
	}
	program, err := match.Compile(reg.Match)
	if err != nil {
		return nil, err
	}
	return func(v *chain.View) (bool, error) {
		in := v.Decoded(func(v *chain.View) any { return match.NewInput(v.Event, v.Session, v.Data) })
		return program.Eval(in.(*match.Input))
	}, nil
}
