package telemetry

import (
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Approval is a question to a person, and what became of it.
type Approval struct {
	ID, ChainID    string // of the question; of the chain that asked
	Hook           string // the id of the hook
	Event, Session string
	Asked, Decided time.Time
	Granted        bool
	TimedOut       bool
	DecidedBy      string
}

// maxWaits is how many questions are known, so that their decisions can name them.
const maxWaits = 4096

// waits are the spans of questions that this replica heard of.
type waits struct {
	mu    sync.Mutex // guards what follows
	known map[string]trace.SpanContext
	order []string // a ring
	next  int
}

func (w *waits) put(id string, sc trace.SpanContext) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil {
		w.known, w.order = map[string]trace.SpanContext{}, make([]string, maxWaits)
	}
	if _, there := w.known[id]; !there {
		delete(w.known, w.order[w.next])
		w.order[w.next] = id
		w.next = (w.next + 1) % maxWaits
	}
	w.known[id] = sc
}

func (w *waits) get(id string) (trace.SpanContext, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sc, ok := w.known[id]
	return sc, ok
}

// waitOf is the span of the wait for an answer, below that of the chain which asked,
// whichever replica ran it.
func (tr *Trace) waitOf(a Approval) (wait, parent trace.SpanContext) {
	parent = tr.root.WithSpanID(spanOf(0, a.ChainID))
	return parent.WithSpanID(spanOf(seedOf(parent.SpanID()), "\x00approval "+a.ID)), parent
}

// decisionOf is the span of a decision. It is in a trace of its own, since it may be
// made days later and by anybody, and follows from the question's id, so that both
// can name each other.
func decisionOf(id string) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceOf("\x00approval", id), SpanID: spanOf(0, "\x00decision "+id), TraceFlags: trace.FlagsSampled,
	})
}

// Asked notes in which trace a person is asked.
func (t *Tracer) Asked(tr *Trace, a Approval) {
	if t != nil && tr != nil {
		wait, _ := tr.waitOf(a)
		t.waits.put(a.ID, wait)
	}
}

// Waited makes the span of the wait for a decision that an agent was told of.
func (t *Tracer) Waited(tr *Trace, a Approval) {
	if t == nil || tr == nil {
		return
	}
	wait, parent := tr.waitOf(a)
	t.make(parent.TraceID(), parent, span{
		name: "approval " + a.Hook, id: wait.SpanID(), from: a.Asked, to: a.Decided, about: a.about(),
		links: []trace.Link{{SpanContext: decisionOf(a.ID)}},
	})
}

// Decided makes the span of a decision, with a link to the wait where this replica
// knows it.
func (t *Tracer) Decided(a Approval) {
	if t == nil {
		return
	}
	at := decisionOf(a.ID)
	s := span{name: "decide " + a.Hook, id: at.SpanID(), kind: trace.SpanKindServer, from: a.Decided, to: time.Now(), about: a.about()}
	if s.to.Before(s.from) {
		s.to = s.from
	}
	if wait, known := t.waits.get(a.ID); known {
		s.links = append(s.links, trace.Link{SpanContext: wait})
	}
	t.make(at.TraceID(), trace.SpanContext{}, s)
}

func (a Approval) about() []attribute.KeyValue {
	action := "deny"
	if a.Granted {
		action = "continue"
	}
	about := []attribute.KeyValue{
		KeyApproval.String(a.ID), KeyChain.String(a.ChainID), KeyHook.String(a.Hook), KeyEvent.String(a.Event),
		KeyAction.String(action), KeyDecidedBy.String(a.DecidedBy), KeyTimedOut.Bool(a.TimedOut),
	}
	if a.Session != "" {
		about = append(about, KeySession.String(a.Session))
	}
	return about
}
