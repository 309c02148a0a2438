package traces

import (
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// FromAudit returns the trace of a chain's records in the audit log; there must be at least one.
// The first span covers all others. Calls whose start is not recorded, and skipped hooks, are
// placed one after the other from the event's arrival. The span of an approval request lasts until
// its decision, and is open if there is none.
func FromAudit(c *query.Chain) *Trace {
	t := &Trace{Source: SourceAudit}
	root := rootOf(c)
	t.Spans = append(t.Spans, root)
	at := root.Start
	for _, r := range c.Calls() {
		s := hopOf(r, at)
		if !r.Shadow && r.Action != "collect" { // those run concurrently
			at = s.End()
		}
		t.Spans = append(t.Spans, s)
	}
	t.withApprovals(c)
	from, to := t.Bounds()
	t.Spans[0].Start, t.Spans[0].Took = from, to.Sub(from)
	return t
}

func rootOf(c *query.Chain) Span {
	first := c.Records[0]
	s := Span{Name: "event " + first.Event, Service: "hook-router", Start: first.Time, Tags: map[string]string{TagChain: c.ID, TagEvent: first.Event, tagKind: "server"}}
	if first.Session != "" {
		s.Tags[TagSession] = first.Session
	}
	if r := c.Result(); r != nil {
		s.Took = micros(r.Micros)
		s.Start = r.Time.Add(-s.Took)
		s.Tags[TagAction], s.Tags[TagHooks] = r.Action, strconv.Itoa(r.Called)
		s.set(TagDeniedBy, r.DeniedBy)
		s.set(TagApproval, r.ApprovalID)
		if r.Skipped > 0 {
			s.Tags[TagSkipped] = strconv.Itoa(r.Skipped)
		}
	}
	if c.Refused() != nil {
		s.Failed, s.Tags[TagRefused] = "503", "503"
	}
	return s
}

func hopOf(r query.Record, at time.Time) Span {
	s := Span{
		Depth: 1, Name: "call " + r.Hook, Service: "hook-router", Start: at, Took: micros(r.Micros), Failed: r.Failure,
		Tags: map[string]string{TagHook: r.Hook, tagKind: "client"},
	}
	if !r.Started.IsZero() {
		s.Start = r.Started
	}
	switch {
	case r.Kind == audit.HookSkipped && r.Action == "in_vain":
		s.Tags[TagAction] = r.Action
	case r.Kind == audit.HookSkipped:
		s.Name, s.Tags[TagAction] = "match "+r.Hook, "skipped"
	case r.Failure == "":
		s.set(TagAction, r.Action)
	}
	if r.Group > 0 {
		s.Tags[TagGroup] = strconv.Itoa(r.Group)
	}
	if r.Shadow {
		s.Tags[TagMode] = "shadow"
		if r.Started.IsZero() {
			s.Start = r.Time.Add(-s.Took)
		}
	}
	s.set(TagFailure, r.Failure)
	if r.FailedOpen {
		s.Tags[TagFailedOpen] = "true"
	}
	return s
}

// withApprovals adds each approval request once, with its outcome.
func (t *Trace) withApprovals(c *query.Chain) {
	at := map[string]int{} // index in Spans
	for _, r := range c.Of(audit.ApprovalRequested) {
		if _, known := at[r.ApprovalID]; known {
			continue
		}
		at[r.ApprovalID] = len(t.Spans)
		t.Spans = append(t.Spans, Span{
			Depth: 1, Name: "approval " + r.Hook, Service: "hook-router", Start: r.Time, Open: true,
			Tags: map[string]string{TagApproval: r.ApprovalID, TagHook: r.Hook},
		})
	}
	for _, r := range c.Of(audit.ApprovalDecided) {
		i, known := at[r.ApprovalID]
		if !known {
			continue
		}
		s := &t.Spans[i]
		s.Open, s.Took = false, max(r.Time.Sub(s.Start), 0)
		s.Tags[TagAction] = "deny"
		if r.Granted {
			s.Tags[TagAction] = "continue"
		}
		s.set(TagDecidedBy, r.DecidedBy)
		if r.TimedOut {
			s.Tags[TagTimedOut] = "true"
		}
	}
}

func (s *Span) set(tag, value string) {
	if value != "" {
		s.Tags[tag] = value
	}
}

// micros returns a duration in a record, limited to valid values.
func micros(us int64) time.Duration {
	return time.Duration(min(max(us, 0), maxMicros)) * time.Microsecond
}
