package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/telemetry/traces"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// The bounds of a waterfall for people.
const (
	traceWidth = 30   // characters
	maxIndent  = 12   // levels; what is deeper stands there too
	maxSpanRow = 1000 // spans
)

// waterfall shows the tree: one line for a span, with a bar from when it began to when
// it was over.
func (p *printer) waterfall(t *traces.Trace, doc traced) {
	var head [][]cell
	add := func(name, text, color string) {
		if text != "" {
			head = append(head, []cell{{name, dim}, {text, color}})
		}
	}
	if s := t.Chain(doc.ChainID); s != nil {
		did := didOf(s)
		if wait := waitIn(t); wait != nil {
			did += ", then " + didOf(wait)
		}
		head = append(head, []cell{{orDash(printable(s.Tags[traces.TagEvent])), bold}, {did, colorOf(s)}})
		add("chain", printable(doc.ChainID), plain)
		add("session", printable(s.Tags[traces.TagSession]), plain)
	}
	add("trace", printable(doc.TraceID), plain)
	add("began", doc.Began.UTC().Format(recordTime), plain)
	add("took", lasted(time.Duration(doc.Micros)*time.Microsecond), plain)
	add("from", printable(doc.From), plain)
	p.table(head)
	p.print("\n")
	rows := [][]cell{heads("SPAN", "SERVICE", "TOOK", strings.Repeat(" ", traceWidth), "WHAT")}
	for i := range t.Spans[:min(len(t.Spans), maxSpanRow)] {
		s := &t.Spans[i]
		took := lasted(s.Took)
		if s.Open {
			took = "open"
		}
		rows = append(rows, []cell{
			{strings.Repeat("  ", min(s.Depth, maxIndent)) + clip(printable(s.Name), maxValue/2), plain},
			{clip(printable(s.Service), maxValue/4), dim},
			{took, plain},
			{bar(s, doc), colorOf(s)},
			{didOf(s), colorOf(s)},
		})
	}
	p.table(rows)
	if more := len(t.Spans) - maxSpanRow; more > 0 {
		p.print("… and %s more; --json shows all\n", plural(more, "span"))
	}
}

// waitIn is the wait for a person; nil for none.
func waitIn(t *traces.Trace) *traces.Span {
	for i := range t.Spans {
		if tags := t.Spans[i].Tags; tags[traces.TagApproval] != "" && tags[traces.TagHook] != "" {
			return &t.Spans[i]
		}
	}
	return nil
}

// bar is where a span lies in the time of the trace.
func bar(s *traces.Span, doc traced) string {
	whole := float64(max(doc.Micros, 1))
	cells := func(us int64) int { return min(max(int(float64(us)/whole*traceWidth+0.5), 0), traceWidth) }
	at := s.Start.Sub(doc.Began).Microseconds()
	from, to := cells(at), cells(at+s.Took.Microseconds())
	if s.Open {
		to = traceWidth
	}
	mark := strings.Repeat("█", max(to-from, 0))
	if mark == "" {
		from, mark = min(from, traceWidth-1), "▏"
	}
	mark = strings.Repeat("·", from) + mark
	return mark + strings.Repeat("·", traceWidth-len([]rune(mark)))
}

// didOf is what became of a span, in words.
func didOf(s *traces.Span) string {
	var parts []string
	add := func(format, text string) {
		if text != "" {
			parts = append(parts, fmt.Sprintf(format, clip(printable(text), maxValue)))
		}
	}
	tag := s.Tags
	did := tag[traces.TagAction]
	if by := tag[traces.TagDeniedBy]; by != "" {
		did += " by " + by
	}
	add("%s", did)
	if s.Failed != "" {
		add("FAILED %s", s.Failed)
	}
	if tag[traces.TagFailedOpen] == "true" {
		parts = append(parts, "let pass")
	}
	add("priority %s", tag[traces.TagPriority])
	if mode := tag[traces.TagMode]; mode != string(chain.Enforce) {
		add("mode %s", mode)
	}
	add("%s tokens injected", tag[traces.TagTokens])
	switch {
	case tag[traces.TagDecidedBy] != "":
		add("decided by %s", tag[traces.TagDecidedBy])
	case s.Open:
		parts = append(parts, "not decided yet")
	}
	return strings.Join(parts, ", ")
}

func colorOf(s *traces.Span) string {
	switch action := s.Tags[traces.TagAction]; {
	case s.Failed != "":
		return bold + ";" + red
	case s.Open, action == "pending":
		return yellow
	case action == "", action == "skipped":
		return plain
	default:
		return actionColor(chain.Action(action))
	}
}

// lasted is a duration for people.
func lasted(d time.Duration) string {
	if d < 10*time.Second {
		return micros(d.Microseconds())
	}
	return d.Round(100 * time.Millisecond).String()
}
