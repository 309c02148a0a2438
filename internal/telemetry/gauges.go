package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// State is the current state of a router.
type State struct {
	Ready               bool
	InFlight, MaxFlight int           // requests of agents
	Hooks, Expired      int64         // registered hooks; instances that this replica removed because they stopped renewing
	AuditMode           string        // strict, async or off
	AuditWaiting        int64         // answers waiting for their records
	AuditLag            time.Duration // age of the oldest record that the log has not stored; 0 if there is none
	AuditAlarm          bool          // an alarm keeps this replica from signing the live segment
	Approvals           int           // open approval requests
	OldestApproval      time.Duration // age of the oldest one; 0 if there is none
}

// Watch reads the state of a router with each scrape. read must be quick and must not block.
func (t *Telemetry) Watch(read func() State) (stop func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	m := t.meter
	var all []metric.Observable
	gauge := func(name, what string) metric.Int64ObservableGauge {
		g, _ := m.Int64ObservableGauge(name, metric.WithDescription(what))
		all = append(all, g)
		return g
	}
	seconds := func(name, what string) metric.Float64ObservableGauge {
		g, _ := m.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(what))
		all = append(all, g)
		return g
	}
	ready := gauge("hookrouter.ready", "1 while this replica can serve, else 0")
	inFlight := gauge("hookrouter.in_flight", "Requests in flight")
	maxFlight := gauge("hookrouter.in_flight.limit", "Limit of requests in flight")
	hooks := gauge("hookrouter.registry.hooks", "Hooks that are registered")
	pending := gauge("hookrouter.approvals.pending", "Approval requests that wait for a person, of all replicas")
	oldest := seconds("hookrouter.approvals.oldest.age", "Age of the oldest open approval request")
	mode := gauge("hookrouter.audit.mode", "1 for the mode of the audit log")
	waiting := gauge("hookrouter.audit.waiting", "Answers that wait for their records")
	lag := seconds("hookrouter.audit.lag", "Age of the oldest record that the audit log has not taken")
	alarm := gauge("hookrouter.audit.alarm", "1 while an alarm stops signing the audit log")
	agents := gauge("hookrouter.agents.seen", "Agents that emitted events here in 24 hours, at most 1000")
	ungated := gauge("hookrouter.agents.ungated", "Those of them without tool:pre")
	expired, _ := m.Int64ObservableCounter("hookrouter.registry.expired", metric.WithDescription("Instances removed since they stopped renewing"))
	spans, _ := m.Int64ObservableCounter("hookrouter.spans", metric.WithDescription("Spans made, sent to the collector, or not sent; the rest waits or was dropped"))
	made, sent, failed := spansOf("made"), spansOf("sent"), spansOf("failed")
	registration, err := m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := read()
		o.ObserveInt64(ready, flag(s.Ready))
		o.ObserveInt64(inFlight, int64(s.InFlight))
		o.ObserveInt64(maxFlight, int64(s.MaxFlight))
		o.ObserveInt64(hooks, s.Hooks)
		o.ObserveInt64(expired, s.Expired)
		o.ObserveInt64(pending, int64(s.Approvals))
		o.ObserveFloat64(oldest, s.OldestApproval.Seconds())
		o.ObserveInt64(mode, 1, metric.WithAttributeSet(attribute.NewSet(keyModeLabel.String(s.AuditMode))))
		o.ObserveInt64(waiting, s.AuditWaiting)
		o.ObserveFloat64(lag, s.AuditLag.Seconds())
		o.ObserveInt64(alarm, flag(s.AuditAlarm))
		seen, without := t.Metrics.coverage.Count(time.Now())
		o.ObserveInt64(agents, int64(seen))
		o.ObserveInt64(ungated, int64(without))
		if t.Tracer != nil {
			o.ObserveInt64(spans, t.Tracer.made.Load(), made)
			if out := t.Tracer.exported; out != nil {
				o.ObserveInt64(spans, out.sent.Load(), sent)
				o.ObserveInt64(spans, out.failed.Load(), failed)
			}
		}
		return nil
	}, append(all, expired, spans)...)
	if err != nil {
		return nil, err
	}
	return func() { _ = registration.Unregister() }, nil
}

func spansOf(outcome string) metric.ObserveOption {
	return metric.WithAttributeSet(attribute.NewSet(keyOutcome.String(outcome)))
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
