package telemetry

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Metrics counts what a router does. A nil *Metrics counts nothing. It is safe for
// concurrent use.
type Metrics struct {
	chainTime, hookTime, auditTime metric.Float64Histogram
	chains, decisions, failures    metric.Int64Counter
	failedOpen, skips, refused     metric.Int64Counter
	injected, injections, shadow   metric.Int64Counter
	shadowDropped, approvals       metric.Int64Counter
	agents                         metric.Int64Counter

	events, hooks, classes *words
	byVerb                 *table[verbEvent, chainLabels]
	byHook                 *table[string, *hookLabels]
	byPair                 *table[eventHook, actions]
	byAgent                *table[agentEvent, []metric.AddOption]
	byRefusal              *table[refusal, []metric.AddOption]
	byDecision             *table[decision, []metric.AddOption]
	byAudit                *table[string, []metric.RecordOption]
	coverage               *Coverage
}

type (
	verbEvent  struct{ verb, event string }
	eventHook  struct{ event, hook string }
	agentEvent struct{ agent, event string }
	refusal    struct {
		verb string
		code int
	}
	decision struct{ kind, outcome string }
)

// chainLabels are those of the chains of one event.
type chainLabels struct {
	time []metric.RecordOption
	actions
}

// actions are labels for each action that may have been taken, one of them for those
// that are not known here.
type actions [9][]metric.AddOption

var actionNames = [len(actions{})]string{"continue", "deny", "modify", "inject_context", "ask_user", "pending", "collect", "failed", Other}

// of are the labels of an action.
func (a *actions) of(action string) []metric.AddOption {
	for i, name := range actionNames {
		if name == action {
			return a[i]
		}
	}
	return a[len(a)-1]
}

func newActions(labels ...attribute.KeyValue) (a actions) {
	for i, name := range actionNames {
		a[i] = adding(append(slices.Clip(labels), keyActionLabel.String(name))...)
	}
	return a
}

// hookLabels are those of one hook.
type hookLabels struct {
	time             []metric.RecordOption
	plain            []metric.AddOption
	failed           map[chain.Failure][]metric.AddOption
	delivered        []metric.AddOption
	oversize, budget []metric.AddOption
	dropped          []metric.AddOption
	shadow           actions
}

// classes are the classes of failures.
var failureClasses = [...]chain.Failure{
	chain.FailedError, chain.FailedTimeout, chain.FailedNoResponder, chain.FailedInvalid, chain.FailedMatch,
}

func newHookLabels(id string) *hookLabels {
	hook := keyHookLabel.String(id)
	l := &hookLabels{
		time: recording(hook), plain: adding(hook), failed: map[chain.Failure][]metric.AddOption{},
		delivered: adding(hook, keyOutcome.String("delivered")), oversize: adding(hook, keyOutcome.String(verdict.Oversize)),
		budget: adding(hook, keyOutcome.String(verdict.Budget)), dropped: adding(hook, keyOutcome.String(Other)),
		shadow: newActions(hook),
	}
	for _, class := range failureClasses {
		l.failed[class] = adding(hook, keyClass.String(string(class)))
	}
	return l
}

func adding(labels ...attribute.KeyValue) []metric.AddOption {
	return []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(labels...))}
}

func recording(labels ...attribute.KeyValue) []metric.RecordOption {
	return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(labels...))}
}

// buckets are the upper bounds of durations, in seconds.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// newMetrics makes the instruments.
func newMetrics(m metric.Meter) *Metrics {
	seconds := func(name, what string) metric.Float64Histogram {
		h, _ := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(buckets...))
		return h // an error is one of the name, and a test reads them all
	}
	count := func(name, what string) metric.Int64Counter {
		c, _ := m.Int64Counter(name, metric.WithDescription(what))
		return c
	}
	bytes, _ := m.Int64Counter("hookrouter.injected", metric.WithUnit("By"), metric.WithDescription("Text that hooks put into agents' contexts"))
	x := &Metrics{
		chainTime:     seconds("hookrouter.chain.duration", "From an event's coming to its answer, without waits for people"),
		hookTime:      seconds("hookrouter.hook.duration", "From a call of a hook to its answer"),
		auditTime:     seconds("hookrouter.audit.append.duration", "How long answers waited for their records"),
		chains:        count("hookrouter.chains", "Events that were decided"),
		decisions:     count("hookrouter.hook.results", "What hooks answered"),
		failures:      count("hookrouter.hook.failures", "Calls of hooks that failed"),
		failedOpen:    count("hookrouter.hook.failed_open", "Failures of hooks that were let pass"),
		skips:         count("hookrouter.hook.skipped", "Events that a hook's match did not want"),
		refused:       count("hookrouter.refused", "Requests that were refused"),
		injections:    count("hookrouter.injections", "Texts of hooks for agents' contexts"),
		injected:      bytes,
		shadow:        count("hookrouter.shadow.results", "What shadow hooks answered"),
		shadowDropped: count("hookrouter.shadow.dropped", "Calls of shadow hooks that were left out: too many were under way"),
		approvals:     count("hookrouter.approvals.decided", "Questions that this replica decided"),
		agents:        count("hookrouter.agent.events", "Events by the class of agent that emitted them"),
		events:        newWords(maxEvents, standardEvents()...), hooks: newWords(maxHooks), classes: newWords(maxAgents),
		coverage: NewCoverage(),
	}
	x.byVerb = newTable(3*maxEvents+3, chainOf(verbEvent{Other, Other}), chainOf)
	x.byHook = newTable(maxHooks+1, newHookLabels(Other), newHookLabels)
	x.byPair = newTable(maxPairs, newActions(keyEventLabel.String(Other), keyHookLabel.String(Other)), func(k eventHook) actions {
		return newActions(keyEventLabel.String(k.event), keyHookLabel.String(k.hook))
	})
	x.byAgent = newTable(maxPairs, adding(keyAgent.String(Other), keyEventLabel.String(Other)), func(k agentEvent) []metric.AddOption {
		return adding(keyAgent.String(k.agent), keyEventLabel.String(k.event))
	})
	x.byRefusal = newTable(200, adding(keyVerb.String(Other), keyCode.String(Other)), func(k refusal) []metric.AddOption {
		return adding(keyVerb.String(k.verb), keyCode.String(strconv.Itoa(k.code)))
	})
	x.byDecision = newTable(32, adding(keyKind.String(Other), keyOutcome.String(Other)), func(k decision) []metric.AddOption {
		return adding(keyKind.String(k.kind), keyOutcome.String(k.outcome))
	})
	x.byAudit = newTable(4, recording(keyModeLabel.String(Other)), func(mode string) []metric.RecordOption {
		return recording(keyModeLabel.String(mode))
	})
	return x
}

func chainOf(k verbEvent) chainLabels {
	verb, event := keyVerb.String(k.verb), keyEventLabel.String(k.event)
	return chainLabels{recording(verb, event), newActions(verb, event)}
}

// asIs are keys that may be kept: their words are labels already.
func asIs[K any](k K) K { return k }

// Chain counts one event that was decided, and what its hooks said. ctx carries the
// trace, where it is sampled.
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
	for i := range c.Outcome.Hops {
		m.hop(ctx, event, &c.Outcome.Hops[i])
	}
	for i := range c.Answers {
		m.answer(ctx, &c.Answers[i])
	}
	for _, link := range c.Outcome.Skipped {
		m.skips.Add(ctx, 1, m.hook(link.ID).plain...)
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
	m.seen(ctx, c.Source, c.Event, event)
}

func (m *Metrics) hook(id string) *hookLabels { return m.byHook.get(m.hooks.label(id), strings.Clone) }

func (m *Metrics) hop(ctx context.Context, event string, hop *chain.Hop) {
	labels := m.hook(hop.Link.ID)
	pair := m.byPair.get(eventHook{event, m.hooks.label(hop.Link.ID)}, ownPair)
	if !hop.Start.IsZero() {
		m.hookTime.Record(ctx, hop.Took.Seconds(), labels.time...)
	}
	if hop.Failure == "" {
		m.decisions.Add(ctx, 1, pair.of(actionOf(hop.Result.Action))...)
		return
	}
	m.decisions.Add(ctx, 1, pair.of("failed")...)
	m.failures.Add(ctx, 1, labels.failed[hop.Failure]...)
	if hop.FailedOpen {
		m.failedOpen.Add(ctx, 1, labels.failed[hop.Failure]...)
	}
}

// answer counts a call of a collect.
func (m *Metrics) answer(ctx context.Context, a *Answer) {
	labels := m.hook(a.Link.ID)
	m.hookTime.Record(ctx, a.When.To.Sub(a.When.From).Seconds(), labels.time...)
	if a.Failure != "" {
		m.failures.Add(ctx, 1, labels.failed[a.Failure]...)
	}
}

func ownPair(k eventHook) eventHook { return eventHook{k.event, strings.Clone(k.hook)} }

// actionOf is the name of an action, whose zero value lets pass.
func actionOf(a chain.Action) string {
	if a == "" {
		return string(chain.Continue)
	}
	return string(a)
}

// seen counts an event for the coverage of its agent.
func (m *Metrics) seen(ctx context.Context, source, event, label string) {
	class := m.classes.label(classOf(source))
	m.agents.Add(ctx, 1, m.byAgent.get(agentEvent{class, label}, func(k agentEvent) agentEvent {
		return agentEvent{strings.Clone(k.agent), k.event}
	})...)
	m.coverage.Saw(source, event, time.Now())
}

// Refused counts a request that was refused; verb is what was asked for.
func (m *Metrics) Refused(verb string, code int) {
	if m != nil {
		m.refused.Add(context.Background(), 1, m.byRefusal.get(refusal{verb, code}, asIs)...)
	}
}

// Shadow counts an answer of a shadow hook.
func (m *Metrics) Shadow(hook string, action chain.Action, failed bool) {
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

// ShadowDropped counts a call of a shadow hook that was left out.
func (m *Metrics) ShadowDropped(hook string) {
	if m != nil {
		m.shadowDropped.Add(context.Background(), 1, m.hook(hook).plain...)
	}
}

// Decided counts a question that was decided here. kind says by whom: [ByPerson],
// [ByRule], [ByTimeout], [ByError] or [ByGrant].
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

// Who decides questions.
const (
	ByPerson  = "person"
	ByRule    = "rule"
	ByTimeout = "timeout"
	ByError   = "error" // the approval system failed: the default held
	ByGrant   = "grant" // an earlier "Allow always" of the session
)
