package router

import (
	"context"
	"sync/atomic"
	"time"

	natsapi "github.com/hookrouter/hookrouter/internal/api/nats"
	"github.com/hookrouter/hookrouter/internal/approvals"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// observer is the [dispatch.Observer] of a router: metrics and spans. Without telemetry both are
// nil and cost nothing.
type observer struct {
	metrics   *telemetry.Metrics
	tracer    *telemetry.Tracer
	auditMode string

	open   atomic.Int64 // approval requests, at the last count
	oldest atomic.Int64 // when the oldest was opened, in Unix nanoseconds; 0 for none
}

func newObserver(t *telemetry.Telemetry) *observer {
	if t == nil {
		return &observer{}
	}
	return &observer{metrics: t.Metrics, tracer: t.Tracer}
}

// Begin returns the trace of an event.
func (o *observer) Begin(s telemetry.Sender) *telemetry.Trace {
	if o.tracer == nil {
		return nil
	}
	return o.tracer.Begin(s)
}

// Chain counts and traces an event.
func (o *observer) Chain(tr *telemetry.Trace, c *telemetry.Chain) {
	c.AuditMode = o.auditMode
	o.metrics.Chain(tr.Context(), c)
	o.tracer.Chain(tr, c)
}

// Gathered traces a call of contributors, which no agent emitted.
func (o *observer) Gathered(tr *telemetry.Trace, c *telemetry.Chain) {
	if tr != nil {
		o.tracer.Chain(tr, c)
	}
}

// Unawaited counts and traces an answer of a hook in mode shadow or async.
func (o *observer) Unawaited(tr *telemetry.Trace, call telemetry.Answer, action chain.Action, failed bool) {
	o.metrics.Unawaited(call.Entry.ID, action, failed)
	o.tracer.Unawaited(tr, call, action)
}

// UnawaitedDropped counts a shadow or async call that exceeded the limit.
func (o *observer) UnawaitedDropped(hook string) { o.metrics.UnawaitedDropped(hook) }

// Asked names the span of an approval request.
func (o *observer) Asked(a telemetry.Approval) context.Context { return o.tracer.Asked(a) }

// Decided counts and traces a decision.
func (o *observer) Decided(ctx context.Context, kind string, a telemetry.Approval) context.Context {
	o.metrics.Decided(kind, a.Granted)
	return o.tracer.Decided(ctx, a)
}

// Granted counts an answer by an earlier "Allow always".
func (o *observer) Granted() { o.metrics.Decided(telemetry.ByGrant, true) }

// state returns the state for a scrape. It never blocks.
func (r *Router) state(server *natsapi.Server) telemetry.State {
	counts := r.registry.Counts()
	inFlight, limit := server.InFlight()
	s := telemetry.State{
		Ready: r.Ready() == nil, InFlight: inFlight, MaxFlight: limit, Hooks: counts["hooks"], Expired: counts["expired"],
		AuditMode: r.observer.auditMode, AuditWaiting: r.audit.Waiting(), AuditLag: r.audit.Lag(), AuditAlarm: r.audit.Alarmed(), Approvals: int(r.observer.open.Load()),
	}
	if oldest := r.observer.oldest.Load(); oldest != 0 {
		s.OldestApproval = max(time.Since(time.Unix(0, oldest)), 0)
	}
	return s
}

// Intervals at which open approval requests are counted: after a change, and at the latest.
const (
	countAfterChange = time.Second
	countInterval    = 10 * time.Second
)

// countApprovals keeps the count of open approval requests current until ctx ends, so that a
// scrape need not ask the store.
func (o *observer) countApprovals(ctx context.Context, service *approvals.Service) {
	notices, stop := service.Watch()
	defer stop()
	tick := time.NewTicker(countAfterChange)
	defer tick.Stop()
	changed, next := true, time.Now()
	for {
		select {
		case _, open := <-notices:
			if changed = true; !open {
				notices = nil
			}
			continue
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		if now.Before(next) || !changed && now.Before(next.Add(countInterval)) {
			continue
		}
		changed = false
		o.count(ctx, service)
		next = time.Now().Add(100 * time.Since(now)) // count many requests less often
	}
}

func (o *observer) count(ctx context.Context, service *approvals.Service) {
	if service.Empty() {
		o.open.Store(0)
		o.oldest.Store(0)
		return
	}
	list, total, err := service.Pending(ctx, approval.Filter{Limit: 1})
	if err != nil {
		return // keep the last count
	}
	var oldest int64
	if len(list) > 0 {
		oldest = list[0].Created.UnixNano()
	}
	o.open.Store(int64(total))
	o.oldest.Store(oldest)
}
