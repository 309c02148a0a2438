package audit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func (s *Stats) show(p *term.Printer, prefix string, now time.Time) {
	if len(s.Hooks) > 0 {
		rows := [][]term.Cell{term.Heads("EVENT", "HOOK", "DID", "TIMES", "FAILED", "FAILED OPEN")}
		for _, n := range s.Hooks {
			rows = append(rows, term.Row(n.Event, term.Cyan.Cell(n.Hook), cli.ActionColor(chain.Action(n.Action)).Cell(n.Action), n.Count, countCell(n.Failed, term.Yellow), countCell(n.FailedOpen, term.Bold+";"+term.Red)))
		}
		p.Table(rows)
		p.Print("\n")
	}
	var facts term.Facts
	add := facts.Add
	add("records", strconv.Itoa(s.Records), term.Plain)
	if s.Unreadable > 0 {
		add("unreadable", strconv.Itoa(s.Unreadable), term.Red)
	}
	add("chains", tally(s.Chains), term.Plain)
	if s.Refused > 0 {
		add("refused", fmt.Sprintf("%d, since the log did not take the records in time", s.Refused), term.Red)
	}
	add("failures", tally(s.Failures), term.Plain)
	if s.FailedOpen > 0 {
		add("FAILED OPEN", strconv.Itoa(s.FailedOpen), term.Bold+";"+term.Red)
	}
	add("approvals", fmt.Sprintf("%d asked; decided by %s; %d granted", s.Asked, tally(s.Decided), s.Granted), term.Plain)
	if s.Lost > 0 {
		add("lost", term.Plural(s.Lost, "record")+" were never written", term.Red)
	}
	p.Table(facts)
	p.Print("\n")
	rows := [][]term.Cell{term.Heads("SEGMENT", "STATE", "MESSAGES", "BYTES", "CHECKPOINT", "AGE", "ROOT")}
	for _, seg := range s.Segments {
		rows = append(rows, seg.row(now))
	}
	p.Table(rows)
	for _, g := range s.Missing {
		if g.From > 1 {
			p.Print("%s\n", p.Paint(term.Red, g.notThere(prefix)))
		} else {
			p.Print("%s\n", p.Paint(term.Yellow, g.name(prefix)+" is not there: a keeper has removed it, or somebody else"))
		}
	}
	for _, seg := range s.Segments {
		if seg.Alarm != nil {
			p.Fold(p.Paint(term.Red, "ALARM: "+term.Printable(seg.Alarm.String())))
		}
		for _, drift := range seg.Drift {
			p.Print("%s\n", p.Paint(term.Red, term.Printable(seg.Stream+" is not append-only: "+drift)))
		}
	}
}

func (s segmentStats) row(now time.Time) []term.Cell {
	state, checkpoint := "live", term.Red.Cell("none")
	if s.Sealed {
		state = "sealed"
	}
	age, root := "", s.Root
	if s.Checkpoint != nil {
		checkpoint = term.Green.Cell("over all")
		if behind := int64(s.Last) - s.Size; behind != 0 {
			checkpoint = term.Yellow.Cell(fmt.Sprintf("over %d of %d", s.Size, s.Last))
		}
		age = term.Span(now.Sub(*s.Checkpoint))
	}
	return term.Row(term.Cyan.Cell(s.Stream), state, s.Messages, term.Size(float64(s.Bytes)), checkpoint, age, term.Dim.Cell(root))
}

func countCell(n int, color term.Color) term.Cell {
	if n == 0 {
		return term.Dim.Cell("-")
	}
	return color.Cell(strconv.Itoa(n))
}

// tally formats counts by word, such as "3 deny, 5 continue".
func tally(counts map[string]int) string {
	if len(counts) == 0 {
		return "none"
	}
	text := ""
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		if text != "" {
			text += ", "
		}
		text += strconv.Itoa(counts[word]) + " " + term.Printable(term.OrDash(word))
	}
	return text
}
