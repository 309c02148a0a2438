package telemetry

import (
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

type (
	verbEvent  struct{ verb, event string }
	eventHook  struct{ event, hook string }
	agentEvent struct{ agent, event string }
	refusal    struct {
		verb string
		code int
	}
	decision   struct{ kind, outcome string }
	hookChange struct{ hook, action string }
)

// chainLabels are the labels for the chains of one event.
type chainLabels struct {
	time []metric.RecordOption
	actions
}

// actions are the labels of each action, and one for unknown actions.
type actions [9][]metric.AddOption

var actionNames = [len(actions{})]string{"continue", "deny", "modify", "inject_context", "ask_user", "pending", "collect", "failed", Other}

// of returns the labels of an action.
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

// hookLabels are the labels for one hook.
type hookLabels struct {
	time             []metric.RecordOption
	plain            []metric.AddOption
	failed           map[chain.Failure][]metric.AddOption
	delivered        []metric.AddOption
	oversize, budget []metric.AddOption
	dropped          []metric.AddOption
	shadow           actions
}

// failureClasses lists the classes of failures.
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

// buckets are the upper bounds of histograms of durations, in seconds.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// batchBuckets are the upper bounds of the histogram of records in a message.
var batchBuckets = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}

// newMetrics makes the instruments.
func newMetrics(m metric.Meter) *Metrics {
	seconds := func(name, what string) metric.Float64Histogram {
		h, _ := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(buckets...))
		return h // errors only concern the name, and a test covers all names
	}
	count := func(name, what string) metric.Int64Counter {
		c, _ := m.Int64Counter(name, metric.WithDescription(what))
		return c
	}
	bytes, _ := m.Int64Counter("hookrouter.injected", metric.WithUnit("By"), metric.WithDescription("Text that hooks put into agents' contexts"))
	batch, _ := m.Int64Histogram("hookrouter.audit.batch.records", metric.WithDescription("Records in one message that the audit log took"),
		metric.WithExplicitBucketBoundaries(batchBuckets...))
	x := &Metrics{
		chainTime:     seconds("hookrouter.chain.duration", "From an event to its answer, without waits for people"),
		hookTime:      seconds("hookrouter.hook.duration", "From a call of a hook to its answer"),
		auditBatch:    batch,
		auditTime:     seconds("hookrouter.audit.append.duration", "How long answers waited for their records"),
		chains:        count("hookrouter.chains", "Events that were decided"),
		decisions:     count("hookrouter.hook.results", "What hooks answered"),
		failures:      count("hookrouter.hook.failures", "Calls of hooks that failed"),
		failedOpen:    count("hookrouter.hook.failed_open", "Failures of hooks that were let pass"),
		skips:         count("hookrouter.hook.skipped", "Events that a hook's match did not want"),
		discarded:     count("hookrouter.hook.in_vain", "Discarded calls: another hook had denied"),
		refused:       count("hookrouter.refused", "Requests that were refused"),
		injections:    count("hookrouter.injections", "Texts of hooks for agents' contexts"),
		injected:      bytes,
		shadow:        count("hookrouter.shadow.results", "What shadow hooks answered"),
		shadowDropped: count("hookrouter.shadow.dropped", "Shadow and async calls left out: too many were in flight"),
		approvals:     count("hookrouter.approvals.decided", "Approval requests that this replica decided"),
		changes:       count("hookrouter.registry.changes", "Changes of registrations that this replica made"),
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
	x.byChange = newTable(maxPairs, adding(keyActionLabel.String(Other), keyHookLabel.String(Other)), func(k hookChange) []metric.AddOption {
		return adding(keyActionLabel.String(k.action), keyHookLabel.String(k.hook))
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
