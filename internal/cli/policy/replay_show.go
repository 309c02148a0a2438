package policy

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// replayShow prints a replay: JSON line by line, text at the end.
type replayShow struct {
	out   *term.Printer
	limit int  // of listed chains in text output
	brief bool // list without a table

	mu     sync.Mutex // guards report, which progress reads
	report evaluate.Summary

	listed []replayed
}

// replayed is one line of the JSON form: a chain whose result is worth reporting.
type replayed struct {
	Kind    string             `json:"kind"` // difference or refused
	ChainID string             `json:"chain_id"`
	Session string             `json:"session_id"`
	Event   string             `json:"event"`
	EventID string             `json:"event_id"`
	Time    time.Time          `json:"time"`
	Differs string             `json:"differs,omitempty"` // action, labels, question, data or text
	Was     *evaluate.Decision `json:"was,omitempty"`
	Would   *evaluate.Decision `json:"would,omitempty"`
	Calls   []evaluate.Call    `json:"hops,omitempty"` // of the replay
	Masked  bool               `json:"masked,omitempty"`
	Reason  string             `json:"reason,omitempty"` // of a refusal
	Detail  string             `json:"detail,omitempty"`
}

// result adds one result, and prints it as JSON.
func (s *replayShow) result(r evaluate.Replayed) {
	s.mu.Lock()
	s.report.Add(r)
	s.mu.Unlock()
	c := r.Chain
	line := replayed{ChainID: c.ID, Session: c.Session, Event: c.Event, EventID: c.EventID, Time: c.Time, Masked: c.Masked}
	switch {
	case r.Refusal != nil:
		line.Kind, line.Reason, line.Detail = "refused", r.Refusal.Reason, r.Refusal.Detail
	case r.Differs != "":
		line.Kind, line.Differs, line.Was, line.Would, line.Calls = "difference", r.Differs, &r.Was, &r.Would, r.Calls
	default:
		return
	}
	if !s.out.Line(line) && line.Kind == "difference" && len(s.listed) < s.limit {
		s.listed = append(s.listed, line)
	}
}

// progress prints the progress at intervals until stop is called.
func (s *replayShow) progress(to io.Writer, every time.Duration) (stop func()) {
	if every <= 0 {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.mu.Lock()
				r := s.report
				s.mu.Unlock()
				fmt.Fprintf(to, "hookctl: %s so far: %d replayed, %d would differ, %d refused\n", term.Plural(r.Chains, "chain"), r.Replayed, r.Differ, r.Refused)
			case <-end:
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// end prints the summary.
func (s *replayShow) end() evaluate.Summary {
	r := s.report
	if s.out.JSON {
		for _, list := range [...]*[]evaluate.Group{&r.Refusals, &r.Changes} {
			if *list == nil {
				*list = []evaluate.Group{}
			}
		}
		s.out.Line(struct {
			Kind string `json:"kind"`
			evaluate.Summary
		}{"summary", r})
		return r
	}
	p := s.out
	p.Print("%s replayed of %d: %d the same, %s\n", term.Plural(r.Replayed, "chain"), r.Chains, r.Same, p.Paint(differColor(r.Differ), fmt.Sprintf("%d would differ", r.Differ)))
	s.counts()
	s.groups()
	s.list()
	return r
}

func differColor(n int) term.Color {
	if n > 0 {
		return term.Yellow
	}
	return term.Green
}

// counts prints the caveats on the totals.
func (s *replayShow) counts() {
	var rows [][]term.Cell
	for _, c := range [...]struct {
		n    int
		what string
	}{
		{s.report.AsRecorded, "with a hook that was not called and answered as recorded: it is not replay_safe"},
		{s.report.Assumed, "of them to other data than the recorded answer was given to: take these with care"},
		{s.report.Masked, "with masked values: hooks saw the mask where the agent had sent a secret, so the result may differ"},
		{s.report.Failed, "with a hook that failed now: what its on_failure says was taken"},
		{s.report.Asked, "with an approval request: of recorded ones, only the fact that the hook asks is compared"},
	} {
		if c.n > 0 {
			rows = append(rows, term.Row("  "+strconv.Itoa(c.n), c.what))
		}
	}
	p := s.out
	p.Table(rows)
	if s.report.Refused > 0 {
		p.Print("%s refused\n", term.Plural(s.report.Refused, "chain"))
		rows = nil
		for _, g := range s.report.Refusals {
			rows = append(rows, term.Row("  "+strconv.Itoa(g.Count), g.Reason+", such as "+g.Example))
		}
		p.Table(rows)
	}
}

// groups prints the changes, grouped by decision and hook.
func (s *replayShow) groups() {
	if len(s.report.Changes) == 0 {
		return
	}
	s.out.Print("\nwhat would differ\n")
	var rows [][]term.Cell
	for _, g := range s.report.Changes {
		rows = append(rows, term.Row("  "+strconv.Itoa(g.Count), "was "+brief(*g.Was)+", would be "+brief(*g.Would)+other(g.Differs)))
	}
	s.out.Table(rows)
}

// list prints the chains that differ.
func (s *replayShow) list() {
	if len(s.listed) == 0 {
		return
	}
	if s.brief {
		s.changed()
	} else {
		s.table()
	}
	if more := s.report.Differ - len(s.listed); more > 0 {
		s.out.Print("and %d more: --show shows more of them, --json all\n", more)
	}
}

func (s *replayShow) table() {
	s.out.Print("\n")
	rows := [][]term.Cell{term.Heads("CHAIN", "SESSION", "EVENT", "WAS", "WOULD BE", "REASON")}
	for _, l := range s.listed {
		rows = append(rows, term.Row(l.ChainID, term.Word(l.Session), term.Cyan.Cell(l.Event), cli.ActionColor(l.Was.Action).Cell(brief(*l.Was)), cli.ActionColor(l.Would.Action).Cell(brief(*l.Would)+other(l.Differs)), term.Clip(why(l), 2*term.MaxValue)))
	}
	s.out.Table(rows)
}

// brief summarizes a decision.
func brief(d evaluate.Decision) string {
	text := string(d.Action)
	if d.By != "" {
		text += " by " + term.Printable(d.By)
	}
	if d.Failure != "" {
		text += " (" + string(d.Failure) + ")"
	}
	if d.Open {
		text += " unless a later hook denies"
	}
	return text
}

// other describes a difference other than the action.
func other(differs string) string {
	switch differs {
	case evaluate.DiffersInLabels:
		return ", with other labels"
	case evaluate.DiffersInQuestion:
		return ", with another question"
	case evaluate.DiffersInData:
		return ", with other data"
	case evaluate.DiffersInText:
		return ", with another text"
	}
	return ""
}

// why returns the reason of the new decision, or that of the old one if only the old one has a
// reason.
func why(l replayed) string {
	switch {
	case l.Would.Reason != "":
		return l.Would.Reason
	case l.Was.Reason != "" && l.Was.Action == chain.Deny:
		return "it was: " + l.Was.Reason
	}
	return l.Was.Reason
}
