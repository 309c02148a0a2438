package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Approval describes an approval request and its decision.
type Approval struct {
	ID, ChainID    string // of the approval request; of the chain that asked
	Hook           string // id of the hook
	Event, Session string
	Trace          string // traceparent of the event that asked; empty if there is none
	Asked, Decided time.Time
	Granted        bool
	TimedOut       bool
	DecidedBy      string
}

// waiting returns the span of the wait for an answer, and its parent, the span of the chain that
// asked. It is not valid if the chain has no span.
func (a Approval) waiting() (wait, parent trace.SpanContext) {
	parent = readParent(a.Trace, "")
	if !parent.IsValid() {
		return trace.SpanContext{}, trace.SpanContext{}
	}
	id := spanOf(seedOf(parent.SpanID()), "\x00approval "+a.ID)
	return parent.WithSpanID(id).WithTraceFlags(trace.FlagsSampled), parent
}

// Asked returns the context for messages about an open approval request. It holds the span of the
// wait for the answer, or the span of the event if there is no tracing.
func (t *Tracer) Asked(a Approval) context.Context {
	ctx := Remote(context.Background(), a.Trace, "")
	if t == nil {
		return ctx
	}
	wait, _ := a.waiting()
	return trace.ContextWithSpanContext(ctx, wait)
}

// Decided makes the spans of the wait for an answer and of the decision, which link to each other.
// The wait is part of the event's trace, whichever replica decides, since the approval request
// carries it. The decision may be made days later, so it is a child of the answer's span in ctx, or
// the root of its own trace. Only the replica that decides makes these spans. The returned context
// is for messages about the decision.
func (t *Tracer) Decided(ctx context.Context, a Approval) context.Context {
	if t == nil {
		return Remote(context.Background(), a.Trace, "")
	}
	by := trace.SpanContextFromContext(ctx)
	in := by.TraceID()
	if !by.IsValid() {
		in = traceOf("\x00approval", a.ID)
	}
	decision := trace.NewSpanContext(trace.SpanContextConfig{TraceID: in, SpanID: spanOf(0, "\x00decision "+a.ID), TraceFlags: trace.FlagsSampled})
	s := span{name: "decide " + a.Hook, id: decision.SpanID(), kind: trace.SpanKindServer, from: a.Decided, to: time.Now(), about: a.about()}
	if s.to.Before(s.from) {
		s.to = s.from
	}
	if wait, parent := a.waiting(); wait.IsValid() {
		s.links = []trace.Link{{SpanContext: wait}}
		t.make(parent.TraceID(), parent, span{
			name: "approval " + a.Hook, id: wait.SpanID(), from: a.Asked, to: a.Decided, about: a.about(),
			links: []trace.Link{{SpanContext: decision}},
		})
	}
	t.make(in, by, s)
	return trace.ContextWithSpanContext(context.Background(), decision)
}

func (a Approval) about() []attribute.KeyValue {
	action := "deny"
	if a.Granted {
		action = "continue"
	}
	about := []attribute.KeyValue{
		KeyApproval.String(a.ID), KeyChain.String(a.ChainID), KeyHook.String(a.Hook), KeyEvent.String(a.Event),
		KeyAction.String(action), KeyDecidedBy.String(clipped(a.DecidedBy)), KeyTimedOut.Bool(a.TimedOut),
	}
	if a.Session != "" {
		about = append(about, KeySession.String(clipped(a.Session)))
	}
	return about
}
