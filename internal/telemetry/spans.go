package telemetry

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// span describes one finished span.
type span struct {
	name     string
	id       trace.SpanID
	kind     trace.SpanKind
	from, to time.Time
	failed   string // the failure, in one word; empty if there is none
	about    []attribute.KeyValue
	links    []trace.Link
}

// maker makes spans with one parent.
type maker struct {
	*Tracer
	next    *chosen                 // ids of the next span
	ctx     context.Context         // contains next
	options []trace.SpanStartOption // of the next span
}

// below returns a maker for children of parent, or for root spans of the trace if parent is not
// valid.
func (t *Tracer) below(in trace.TraceID, parent trace.SpanContext) *maker {
	next := &chosen{trace: in}
	ctx := context.WithValue(context.Background(), chosenKey{}, next)
	if parent.IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, parent)
	}
	return &maker{t, next, ctx, make([]trace.SpanStartOption, 0, 3)}
}

// kinds caches the options for kinds of spans.
var kinds = [...]trace.SpanStartOption{
	trace.SpanKindUnspecified: trace.WithSpanKind(trace.SpanKindInternal),
	trace.SpanKindInternal:    trace.WithSpanKind(trace.SpanKindInternal),
	trace.SpanKindServer:      trace.WithSpanKind(trace.SpanKindServer),
	trace.SpanKindClient:      trace.WithSpanKind(trace.SpanKindClient),
}

// maxAttribute is the maximum length of an attribute that a sender chooses, in bytes: spans stay in
// memory until the collector takes them.
const maxAttribute = 256

func clipped(text string) string { return shorten.Bytes(text, maxAttribute, "…") }

// make makes one span.
func (t *Tracer) make(in trace.TraceID, parent trace.SpanContext, s span) {
	t.below(in, parent).make(s)
}

func (t *maker) make(s span) {
	t.made.Add(1)
	t.next.span = s.id
	t.options = append(t.options[:0], trace.WithTimestamp(s.from), kinds[s.kind])
	if len(s.links) > 0 {
		t.options = append(t.options, trace.WithLinks(s.links...))
	}
	_, out := t.tracer.Start(t.ctx, s.name, t.options...)
	out.SetAttributes(s.about...) // copied by SetAttributes
	if s.failed != "" {
		out.SetStatus(codes.Error, s.failed)
	}
	out.End(trace.WithTimestamp(s.to))
}

// Chain makes the spans of one event if its trace is sampled or must be kept.
func (t *Tracer) Chain(tr *Trace, c *Chain) {
	if t == nil || tr == nil {
		return
	}
	why := c.kept()
	if !tr.root.IsSampled() && why == "" {
		return
	}
	id := tr.root.TraceID()
	about := make([]attribute.KeyValue, 0, 24) // reused for each span
	t.make(id, tr.parent, t.event(about, tr, c, why))
	calls := t.below(id, tr.root)
	for i := range c.Outcome.Calls {
		calls.make(t.callSpan(about, tr, c, &c.Outcome.Calls[i]))
	}
	for i := range c.Answers {
		calls.make(t.answer(about, tr, &c.Answers[i]))
	}
	for i := range c.Outcome.InVain {
		call := &c.Outcome.InVain[i]
		calls.make(span{
			name: "call " + call.Entry.ID, id: tr.call(call.Entry.ID).SpanID(), kind: trace.SpanKindClient, from: call.Start, to: call.Start.Add(call.Took),
			about: append(t.callAbout(about, call.Entry), KeyGroup.Int(call.Group), KeyAction.String("in_vain")),
		})
	}
	for _, entry := range c.Outcome.Skipped {
		at := c.before(entry)
		calls.make(span{
			name: "match " + entry.ID, id: tr.call(entry.ID).SpanID(), from: at, to: at,
			about: append(hookAbout(about, entry), KeyAction.String("skipped")),
		})
	}
	if !c.Audited.From.IsZero() {
		s := span{name: "audit append", id: tr.call("\x00audit").SpanID(), from: c.Audited.From, to: c.Audited.To, about: about}
		s.about = append(s.about, KeyAudit.String(c.AuditMode))
		if c.Refused == 503 {
			s.failed = "unavailable"
		}
		calls.make(s)
	}
}

// event returns the span of the request.
func (t *Tracer) event(about []attribute.KeyValue, tr *Trace, c *Chain, why string) span {
	about = append(about,
		semconv.MessagingSystemKey.String("nats"),
		semconv.MessagingDestinationName(t.prefix+"."+c.Verb),
		semconv.CloudEventsEventID(clipped(c.EventID)), semconv.CloudEventsEventSource(clipped(c.Source)),
		semconv.CloudEventsEventType(c.Event), semconv.CloudEventsEventSpecVersion("1.0"),
		KeyEvent.String(c.Event), KeyChain.String(c.ChainID), KeyAudit.String(c.AuditMode),
	)
	if c.Session != "" {
		session := clipped(c.Session)
		about = append(about, KeySession.String(session), semconv.CloudEventsEventSubject(session))
	}
	if c.Root != "" {
		about = append(about, KeyRoot.String(clipped(c.Root)), KeyDepth.Int(c.Depth))
	}
	name := c.Event
	if c.Channel != "" {
		name = c.Channel
		about = append(about, KeyChannel.String(c.Channel))
	}
	s := span{name: "hooks." + c.Verb + " " + name, id: tr.root.SpanID(), kind: trace.SpanKindServer, from: c.Came, to: c.End}
	if c.Refused != 0 {
		about = append(about, KeyRefused.Int(c.Refused))
		s.failed = strconv.Itoa(c.Refused)
	} else {
		about = append(about, KeyAction.String(c.action()))
	}
	called, open := 0, false
	for i := range c.Outcome.Calls {
		if c.Outcome.Calls[i].Called() {
			called++
		}
		open = open || c.Outcome.Calls[i].FailedOpen
	}
	called += len(c.Answers)
	about = append(about, KeyHooks.Int(called))
	if n := len(c.Outcome.Skipped); n > 0 {
		about = append(about, KeySkipped.Int(n))
	}
	if open {
		about = append(about, KeyFailedOpen.Bool(true))
	}
	if c.Outcome.DeniedBy != "" {
		about = append(about, KeyDeniedBy.String(c.Outcome.DeniedBy))
	}
	if c.Approval != "" {
		about = append(about, KeyApproval.String(c.Approval))
	}
	tokens := 0
	for i := range c.Injected {
		tokens += c.Injected[i].Tokens
	}
	if tokens > 0 {
		about = append(about, KeyTokens.Int(tokens))
	}
	if why != "" && !tr.root.IsSampled() {
		about = append(about, KeyKept.String(why))
	}
	s.about = about
	return s
}

func hookAbout(about []attribute.KeyValue, entry *chain.Entry) []attribute.KeyValue {
	mode := entry.Mode
	if mode == "" {
		mode = chain.Enforce
	}
	return append(about, KeyHook.String(entry.ID), KeyPriority.Int(entry.Priority), KeyMode.String(string(mode)))
}

// callAbout returns the attributes of a call and its hook.
func (t *Tracer) callAbout(about []attribute.KeyValue, entry *chain.Entry) []attribute.KeyValue {
	return append(hookAbout(about, entry), semconv.MessagingSystemKey.String("nats"),
		semconv.MessagingDestinationName(t.prefix+".call."+entry.ID))
}

// callSpan returns the span of one call.
func (t *Tracer) callSpan(about []attribute.KeyValue, tr *Trace, c *Chain, call *chain.Call) span {
	s := span{
		name: "call " + call.Entry.ID, id: tr.call(call.Entry.ID).SpanID(), kind: trace.SpanKindClient,
		from: call.Start, to: call.Start.Add(call.Took), failed: string(call.Failure), about: t.callAbout(about, call.Entry),
	}
	if call.Start.IsZero() { // not called, since its match could not be evaluated
		at := c.before(call.Entry)
		s.name, s.kind, s.from, s.to, s.about = "match "+call.Entry.ID, trace.SpanKindInternal, at, at, hookAbout(about, call.Entry)
	}
	if call.Group > 0 {
		s.about = append(s.about, KeyGroup.Int(call.Group))
	}
	if call.Failure != "" {
		s.about = append(s.about, KeyFailure.String(string(call.Failure)), KeyFailedOpen.Bool(call.FailedOpen))
	} else {
		s.about = append(s.about, KeyAction.String(actionOf(call.Result.Action)))
	}
	for i := range c.Injected {
		if c.Injected[i].HookID == call.Entry.ID {
			s.about = append(s.about, KeyTokens.Int(c.Injected[i].Tokens))
		}
	}
	return s
}

// answer returns the span of one call of a collect or of contributions.
func (t *Tracer) answer(about []attribute.KeyValue, tr *Trace, a *Answer) span {
	s := span{
		name: "call " + a.Entry.ID, id: tr.call(a.Entry.ID).SpanID(), kind: trace.SpanKindClient,
		from: a.When.From, to: a.When.To, failed: string(a.Failure), about: t.callAbout(about, a.Entry),
	}
	if a.Failure != "" {
		s.about = append(s.about, KeyFailure.String(string(a.Failure)))
	}
	return s
}

// Unawaited makes the span of a call of a hook in mode shadow or async, if the trace is sampled.
func (t *Tracer) Unawaited(tr *Trace, a Answer, action chain.Action) {
	if t == nil || tr == nil || !tr.root.IsSampled() {
		return
	}
	s := t.answer(nil, tr, &a)
	if a.Failure == "" {
		s.about = append(s.about, KeyAction.String(actionOf(action)))
	}
	t.make(tr.root.TraceID(), tr.root, s)
}

// before returns the time when the last hook before an entry answered, or the event's arrival if
// there is none.
func (c *Chain) before(entry *chain.Entry) time.Time {
	at := c.Came
	for i := range c.Outcome.Calls {
		call := &c.Outcome.Calls[i]
		if call.Entry.Priority > entry.Priority || call.Entry.Priority == entry.Priority && call.Entry.Order > entry.Order {
			break
		}
		if !call.Start.IsZero() {
			at = call.Start.Add(call.Took)
		}
	}
	return at
}
