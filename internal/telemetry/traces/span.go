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
	Source string // where it was read: SourceJaeger or SourceAudit
	ID     string // in hex; empty where the audit log tells it
	Spans  []Span // in the tree's order: each below its parent, earlier ones first
}

// Span is one span of a tree.
type Span struct {
	ID, Parent string // in hex; a Parent that is not in the trace is there too
	Depth      int    // 0 for what has no parent here
	Name       string
	Service    string // whose it is
	Start      time.Time
	Took       time.Duration
	Open       bool   // it is not over yet; Took is 0
	Failed     string // what went wrong, in a word; empty for nothing
	// Tags are the attributes by their names: those of this product, which begin with
	// hookrouter, and what says of which kind the span is. Never nil.
	Tags map[string]string
}

// Names of tags, as internal/telemetry has them.
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

// Of other conventions.
const (
	tagOwn       = "hookrouter."
	tagKind      = "span.kind"
	tagMessaging = "messaging.system"
	tagError     = "error"
	tagStatus    = "otel.status_description"
)

// End is when a span was over.
func (s *Span) End() time.Time { return s.Start.Add(s.Took) }

// Bounds are when the first span began and the last one was over.
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

// Chain is the span of a chain, the router's; nil where it is not in the trace.
func (t *Trace) Chain(id string) *Span {
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Tags[TagChain] == id && s.Tags[tagKind] == "server" && s.Tags[TagHook] == "" {
			return s
		}
	}
	return nil
}

// part is what of the trace is about a chain: its span or, where that is there, the
// request of the agent that is above it, and all below. It is empty for an unknown
// chain.
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

// whole is all of the trace: what has no parent in it, and all below. What is in a
// circle, below itself, is below nothing, and left out.
func (t *Trace) whole() []Span {
	there := make(map[string]bool, len(t.Spans))
	for i := range t.Spans {
		there[t.Spans[i].ID] = true
	}
	return ordered(t.Spans, func(s *Span) bool { return !there[s.Parent] })
}

// ordered puts spans into the order of their tree, from those on that are at its top. Their
// ids differ, so it comes to each once: what is at the top is below nothing, and all else
// below one.
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
	var next []entry // the next one last
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
