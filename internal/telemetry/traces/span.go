package traces

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The sources of a trace.
const (
	SourceJaeger = "jaeger"
	SourceAudit  = "audit"
)

// Trace is a tree of spans.
type Trace struct {
	Source string // SourceJaeger or SourceAudit
	ID     string // in hex; empty for SourceAudit
	Spans  []Span // in tree order: each below its parent, earlier ones first
}

// Span is one span of a tree.
type Span struct {
	ID, Parent string // in hex; the parent may be missing in the trace
	Depth      int    // 0 for spans without a parent in the trace
	Name       string
	Service    string // that made the span
	Start      time.Time
	Took       time.Duration
	Open       bool   // it has not ended; Took is 0
	Failed     string // the failure, in a word; empty if there is none
	// Tags are the attributes by name: those that begin with "hookrouter.", and those that
	// determine the kind of the span. Never nil.
	Tags map[string]string
}

// Names of tags, as in internal/telemetry.
const (
	TagChain      = "hookrouter.chain.id"
	TagSession    = "hookrouter.session"
	TagEvent      = "hookrouter.event"
	TagAction     = "hookrouter.action"
	TagDeniedBy   = "hookrouter.denied_by"
	TagHook       = "hookrouter.hook.id"
	TagPriority   = "hookrouter.hook.priority"
	TagMode       = "hookrouter.hook.mode"
	TagGroup      = "hookrouter.hook.group"
	TagHooks      = "hookrouter.hooks"
	TagSkipped    = "hookrouter.hooks.skipped"
	TagFailure    = "hookrouter.failure"
	TagFailedOpen = "hookrouter.failed_open"
	TagRefused    = "hookrouter.refused"
	TagTokens     = "hookrouter.injected_tokens" //nolint:gosec // these are counted, not secret
	TagApproval   = "hookrouter.approval.id"
	TagDecidedBy  = "hookrouter.approval.decided_by"
	TagTimedOut   = "hookrouter.approval.timed_out"
)

// Tags of other conventions.
const (
	tagOwn       = "hookrouter."
	tagKind      = "span.kind"
	tagMessaging = "messaging.system"
	tagError     = "error"
	tagStatus    = "otel.status_description"
)

// End returns when the span ended.
func (s *Span) End() time.Time { return s.Start.Add(s.Took) }

// Bounds returns when the first span began and the last one ended.
func (t *Trace) Bounds() (from, to time.Time) {
	for i := range t.Spans {
		s := &t.Spans[i]
		if from.IsZero() || s.Start.Before(from) {
			from = s.Start
		}
		if s.End().After(to) {
			to = s.End()
		}
	}
	return from, to
}

// Chain returns the router's span of a chain; nil if it is not in the trace.
func (t *Trace) Chain(id string) *Span {
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Tags[TagChain] == id && s.Tags[tagKind] == "server" && s.Tags[TagHook] == "" {
			return s
		}
	}
	return nil
}

// part returns the spans that belong to a chain: its span, or the agent's request above it if there
// is one, and everything below. It returns nil for an unknown chain.
func (t *Trace) part(chain string) []Span {
	top := t.Chain(chain)
	if top == nil {
		return nil
	}
	for i := range t.Spans {
		if s := &t.Spans[i]; s.ID == top.Parent && s.Tags[tagKind] == "client" && s.Tags[tagMessaging] == "nats" {
			top = s
			break
		}
	}
	return ordered(t.Spans, func(s *Span) bool { return s.ID == top.ID })
}

// whole returns all spans: those without a parent in the trace, and everything below. Spans in a
// cycle are left out.
func (t *Trace) whole() []Span {
	there := make(map[string]bool, len(t.Spans))
	for i := range t.Spans {
		there[t.Spans[i].ID] = true
	}
	return ordered(t.Spans, func(s *Span) bool { return !there[s.Parent] })
}

// ordered returns the spans in tree order, beginning with those for which atTop returns true. It
// visits each span at most once, since ids are unique and a span has only one parent.
func ordered(spans []Span, atTop func(*Span) bool) []Span {
	below := map[string][]*Span{}
	var top []*Span
	for i := range spans {
		s := &spans[i]
		if atTop(s) {
			top = append(top, s)
		} else {
			below[s.Parent] = append(below[s.Parent], s)
		}
	}
	type entry struct {
		*Span
		depth int
	}
	var out []Span
	var next []entry // the next one is last
	push := func(list []*Span, depth int) {
		slices.SortStableFunc(list, func(a, b *Span) int {
			return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.Took, b.Took), strings.Compare(b.ID, a.ID))
		})
		for _, s := range list {
			next = append(next, entry{s, depth})
		}
	}
	for push(top, 0); len(next) > 0; {
		one := next[len(next)-1]
		next = next[:len(next)-1]
		s := *one.Span
		s.Depth = one.depth
		out = append(out, s)
		push(below[s.ID], one.depth+1)
	}
	return out
}
