package telemetry

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Metrics counts what a router does. A nil *Metrics does nothing. It is safe for concurrent use.
type Metrics struct {
	chainTime, hookTime, auditTime metric.Float64Histogram
	auditBatch                     metric.Int64Histogram
	chains, decisions, failures    metric.Int64Counter
	failedOpen, skips, refused     metric.Int64Counter
	discarded                      metric.Int64Counter
	injected, injections, shadow   metric.Int64Counter
	shadowDropped, approvals       metric.Int64Counter
	agents, changes                metric.Int64Counter

	events, hooks, classes words
	byVerb                 *table[verbEvent, chainLabels]
	byHook                 *table[string, *hookLabels]
	byPair                 *table[eventHook, actions]
	byAgent                *table[agentEvent, []metric.AddOption]
	byRefusal              *table[refusal, []metric.AddOption]
	byDecision             *table[decision, []metric.AddOption]
	byAudit                *table[string, []metric.RecordOption]
	byChange               *table[hookChange, []metric.AddOption]
	coverage               *Coverage
}

// asIs returns k, for keys whose strings are cached already.
func asIs[K any](k K) K { return k }

// Chain counts one decided event and the results of its hooks. ctx holds the trace if it is
// sampled.
func (m *Metrics) Chain(ctx context.Context, c *Chain) {
	if m == nil {
		return
	}
	event := m.events.label(c.Event)
	if c.Refused == 0 {
		labels := m.byVerb.get(verbEvent{c.Verb, event}, asIs)
		m.chainTime.Record(ctx, c.End.Sub(c.Came).Seconds(), labels.time...)
		m.chains.Add(ctx, 1, labels.of(c.action())...)
	}
	if !c.Audited.From.IsZero() {
		m.auditTime.Record(ctx, c.Audited.To.Sub(c.Audited.From).Seconds(), m.byAudit.get(c.AuditMode, asIs)...)
	}
	for i := range c.Outcome.Calls {
		m.call(ctx, event, &c.Outcome.Calls[i])
	}
	for i := range c.Answers {
		m.answer(ctx, &c.Answers[i])
	}
	for _, entry := range c.Outcome.Skipped {
		m.skips.Add(ctx, 1, m.hook(entry.ID).plain...)
	}
	for i := range c.Outcome.InVain {
		m.discarded.Add(ctx, 1, m.hook(c.Outcome.InVain[i].Entry.ID).plain...)
	}
	for i := range c.Injected {
		one := &c.Injected[i]
		labels := m.hook(one.HookID)
		m.injected.Add(ctx, int64(one.Bytes), labels.plain...)
		m.injections.Add(ctx, 1, labels.delivered...)
	}
	for i := range c.Dropped {
		labels := m.hook(c.Dropped[i].HookID)
		how := labels.dropped
		switch c.Dropped[i].Dropped {
		case verdict.Oversize:
			how = labels.oversize
		case verdict.Budget:
			how = labels.budget
		}
		m.injections.Add(ctx, 1, how...)
	}
	m.seen(ctx, c, event)
}

func (m *Metrics) hook(id string) *hookLabels { return m.byHook.get(m.hooks.label(id), strings.Clone) }

func (m *Metrics) call(ctx context.Context, event string, call *chain.Call) {
	labels := m.hook(call.Entry.ID)
	pair := m.byPair.get(eventHook{event, m.hooks.label(call.Entry.ID)}, ownPair)
	if !call.Start.IsZero() {
		m.hookTime.Record(ctx, call.Took.Seconds(), labels.time...)
	}
	if call.Failure == "" {
		m.decisions.Add(ctx, 1, pair.of(actionOf(call.Result.Action))...)
		return
	}
	m.decisions.Add(ctx, 1, pair.of("failed")...)
	m.failures.Add(ctx, 1, labels.failed[call.Failure]...)
	if call.FailedOpen {
		m.failedOpen.Add(ctx, 1, labels.failed[call.Failure]...)
	}
}

// answer counts a call of a collect.
func (m *Metrics) answer(ctx context.Context, a *Answer) {
	labels := m.hook(a.Entry.ID)
	m.hookTime.Record(ctx, a.When.To.Sub(a.When.From).Seconds(), labels.time...)
	if a.Failure != "" {
		m.failures.Add(ctx, 1, labels.failed[a.Failure]...)
	}
}

func ownPair(k eventHook) eventHook { return eventHook{k.event, strings.Clone(k.hook)} }

// actionOf returns the name of an action; the zero value is continue.
func actionOf(a chain.Action) string {
	if a == "" {
		return string(chain.Continue)
	}
	return string(a)
}

// seen records an event for its agent's coverage.
func (m *Metrics) seen(ctx context.Context, c *Chain, label string) {
	class := m.classes.label(classOf(c.Source))
	m.agents.Add(ctx, 1, m.byAgent.get(agentEvent{class, label}, func(k agentEvent) agentEvent {
		return agentEvent{strings.Clone(k.agent), k.event}
	})...)
	m.coverage.Saw(c.Source, c.gates(), time.Now())
}

// Refused counts a refused request by its verb.
func (m *Metrics) Refused(verb string, code int) {
	if m != nil {
		m.refused.Add(context.Background(), 1, m.byRefusal.get(refusal{verb, code}, asIs)...)
	}
}

// Unawaited counts an answer of a hook in mode shadow or async, for which the agent does not wait.
func (m *Metrics) Unawaited(hook string, action chain.Action, failed bool) {
	if m == nil {
		return
	}
	name := actionOf(action)
	if failed {
		name = "failed"
	}
	labels := m.hook(hook)
	m.shadow.Add(context.Background(), 1, labels.shadow.of(name)...)
}

// UnawaitedDropped counts a dropped call of a hook in mode shadow or async.
func (m *Metrics) UnawaitedDropped(hook string) {
	if m != nil {
		m.shadowDropped.Add(context.Background(), 1, m.hook(hook).plain...)
	}
}

// Wrote records the size of a message stored in the audit log, in records.
func (m *Metrics) Wrote(records int) {
	if m != nil {
		m.auditBatch.Record(context.Background(), int64(records))
	}
}

// Registry counts a change of a registration. action is that of the audit log.
func (m *Metrics) Registry(action, hook string) {
	if m != nil {
		m.changes.Add(context.Background(), 1, m.byChange.get(hookChange{m.hooks.label(hook), action}, func(k hookChange) hookChange {
			return hookChange{strings.Clone(k.hook), k.action}
		})...)
	}
}

// Decided counts an approval request that this replica decided. kind is [ByPerson], [ByRule],
// [ByTimeout], [ByError], [ByOutdated] or [ByGrant].
func (m *Metrics) Decided(kind string, granted bool) {
	if m == nil {
		return
	}
	outcome := "denied"
	if granted {
		outcome = "granted"
	}
	m.approvals.Add(context.Background(), 1, m.byDecision.get(decision{kind, outcome}, asIs)...)
}

// Values of kind in [Metrics.Decided].
const (
	ByPerson   = "person"
	ByRule     = "rule"
	ByTimeout  = "timeout"
	ByError    = "error"    // the approval system failed: the default applied
	ByOutdated = "outdated" // the session got labels, ended or lost its approvals before anybody answered
	ByGrant    = "grant"    // an earlier "Allow always" of the session
)
