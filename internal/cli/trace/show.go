package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/telemetry/traces"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// The limits of a waterfall in text output.
const (
	traceWidth = 20   // characters
	maxIndent  = 12   // levels; deeper spans are shown at this level
	maxSpanRow = 1000 // spans
)

// waterfall prints the tree with a line for each span. A bar shows when the span began and ended.
func waterfall(p *term.Printer, t *traces.Trace, doc Traced) {
	var head term.Facts
	add := func(what, text string) { head.Add(what, text, term.Plain) }
	if s := t.Chain(doc.ChainID); s != nil {
		did := didOf(s)
		if wait := waitIn(t); wait != nil {
			did += ", then " + didOf(wait)
		}
		head = append(head, []term.Cell{term.Bold.Cell(term.OrDash(term.Printable(s.Tags[traces.TagEvent]))), colorOf(s).Cell(did)})
		add("chain", term.Printable(doc.ChainID))
		add("session", term.Printable(s.Tags[traces.TagSession]))
	}
	add("trace", term.Printable(doc.TraceID))
	add("began", doc.Began.UTC().Format(audit.RecordTime))
	add("took", lasted(time.Duration(doc.Micros)*time.Microsecond))
	add("from", term.Printable(doc.From))
	p.Table(head)
	p.Print("\n")
	rows := [][]term.Cell{term.Heads("SPAN", "TOOK", strings.Repeat(" ", traceWidth), "WHAT")}
	several := slices.ContainsFunc(t.Spans, func(s traces.Span) bool { return s.Service != t.Spans[0].Service })
	for i := range t.Spans[:min(len(t.Spans), maxSpanRow)] {
		s := &t.Spans[i]
		took, what := lasted(s.Took), didOf(s)
		if s.Open {
			took = "open"
		}
		if several {
			what = strings.TrimPrefix(what+", in "+term.Clip(term.Printable(s.Service), term.MaxValue/4), ", ")
		}
		name := strings.Repeat("  ", min(s.Depth, maxIndent)) + term.Clip(term.Printable(s.Name), term.MaxValue/2)
		rows = append(rows, term.Row(name, took, colorOf(s).Cell(bar(s, doc)), colorOf(s).Cell(what)))
	}
	p.Table(rows)
	if more := len(t.Spans) - maxSpanRow; more > 0 {
		p.Print("… and %s more; --json shows all\n", term.Plural(more, "span"))
	}
}

// waitIn returns the span of the wait for a person, or nil if there is none.
func waitIn(t *traces.Trace) *traces.Span {
	for i := range t.Spans {
		if tags := t.Spans[i].Tags; tags[traces.TagApproval] != "" && tags[traces.TagHook] != "" {
			return &t.Spans[i]
		}
	}
	return nil
}

// bar draws the position of a span within the trace.
func bar(s *traces.Span, doc Traced) string {
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

// didOf describes the outcome of a span.
func didOf(s *traces.Span) string {
	var parts []string
	add := func(format, text string) {
		if text != "" {
			parts = append(parts, fmt.Sprintf(format, term.Clip(term.Printable(text), term.MaxValue)))
		}
	}
	tag := s.Tags
	did := tag[traces.TagAction]
	if did == "in_vain" {
		did = "answer discarded"
	}
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
	add("group %s", tag[traces.TagGroup])
	add("%s tokens injected", tag[traces.TagTokens])
	switch {
	case tag[traces.TagDecidedBy] != "":
		add("decided by %s", tag[traces.TagDecidedBy])
	case s.Open:
		parts = append(parts, "not decided yet")
	}
	return strings.Join(parts, ", ")
}

func colorOf(s *traces.Span) term.Color {
	switch action := s.Tags[traces.TagAction]; {
	case s.Failed != "":
		return term.Bold + ";" + term.Red
	case s.Open, action == "pending":
		return term.Yellow
	case action == "", action == "skipped", action == "in_vain":
		return term.Plain
	default:
		return cli.ActionColor(chain.Action(action))
	}
}

// lasted formats a duration.
func lasted(d time.Duration) string {
	if d < 10*time.Second {
		return term.Micros(d.Microseconds())
	}
	return d.Round(100 * time.Millisecond).String()
}
