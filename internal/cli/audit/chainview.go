package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvalview"
	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func readChanges(patch []byte) (list []jsonedit.Change, err error) {
	if len(patch) == 0 {
		return nil, nil
	}
	err = json.Unmarshal(patch, &list)
	return list, err
}

func printChain(p *term.Printer, s *chainView) {
	if p.Document(s) {
		return
	}
	p.Table(s.head())
	in := term.Section{Head: "came in", Lines: nil}
	if s.result != nil {
		in.Lines = s.dataLines(s.result.In)
	} else {
		in.Lines = []term.Cell{term.Red.Cell("the log does not have the chain's result")}
	}
	p.Section(in)
	p.Section(term.Section{Head: "hooks", Lines: callLines(p, s), Prose: true})
	p.Section(term.Section{Head: "for the agent and its user", Lines: effectLines(s.chain), Prose: true})
	for _, a := range s.Approvals {
		p.Section(term.Section{Head: "asked " + term.Printable(a.ApprovalID), Lines: approvalLines(a), Prose: true})
	}
	p.Section(term.Section{Head: "went out", Lines: s.outLines()})
}

func (s *chainView) head() [][]term.Cell {
	first := s.chain.Records[0]
	action := cli.ActionColor(chain.Action(s.Action)).Cell(term.OrDash(term.Printable(s.Action)))
	if s.DeniedBy != "" {
		action.Text += " by " + term.Printable(s.DeniedBy)
	}
	if s.Reason != "" {
		action.Text += ": " + term.OneLine(s.Reason)
	}
	if s.pending() {
		action = term.Yellow.Cell("pending: it waits for a person")
		if d := s.answer(); d != nil {
			action = outcome(d)
		}
	}
	if s.Refused {
		action = term.Red.Cell("REFUSED: the log had not taken the records in time, and the agent got an error, which allows nothing")
	}
	rows := term.Facts{{term.Bold.Cell(term.OrDash(term.Printable(s.Event))), action}}
	add := rows.Add
	if len(s.FailedOpen) > 0 {
		add("FAILED OPEN", term.Printable(strings.Join(s.FailedOpen, ", "))+": failed and let pass", term.Bold+";"+term.Red)
	}
	add("chain", term.Printable(s.ChainID), term.Plain)
	add("event", term.Printable(s.EventID), term.Plain)
	add("session", term.Printable(s.Session), term.Plain)
	add("agent", term.Agent(s.Agent), term.Plain)
	if r := s.result; r != nil {
		add("took", fmt.Sprintf("%s, %s called, %d skipped", term.Micros(r.Micros), term.Plural(r.Called, "hook"), r.Skipped), term.Plain)
		first = *r
	}
	add("recorded", fmt.Sprintf("%s, at %s of %s", first.Time.UTC().Format(RecordTime), first.Place, term.Printable(first.Stream)), term.Plain)
	return rows
}

// pending reports whether the agent was told to wait for a person.
func (s *chainView) pending() bool { return s.Action == "pending" }

// outcome returns the decision on an approval request, and who made it.
func outcome(d *query.Record) term.Cell {
	text, color := "denied", term.Red
	if d.Granted {
		text, color = "granted", term.Green
	}
	if d.TimedOut {
		return color.Cell(text + ": nobody answered in time")
	}
	return color.Cell(text + " by " + term.Printable(d.DecidedBy))
}

// dataLines renders recorded data with the layout of an approval request.
func (s *chainView) dataLines(d *query.Data) []term.Cell {
	switch {
	case d == nil:
		return []term.Cell{term.Dim.Cell("no data is recorded")}
	case d.Omitted > 0:
		return []term.Cell{term.Dim.Cell(term.Plural(d.Omitted, "byte") + ", too large to be recorded; sha256 " + term.Printable(d.SHA256))}
	case d.Value == nil:
		return []term.Cell{term.Dim.Cell("only a digest is recorded: sha256 " + term.Printable(d.SHA256))}
	}
	lines := jsonedit.Data(approvalview.Of(approval.Record{Request: approval.Request{Event: s.Event}, Data: d.Value}))
	if d.Redacted {
		lines = append(lines, term.Dim.Cell("secrets in it were masked before it was recorded"))
	}
	return lines
}

// callLines renders what each hook did and changed.
func callLines(p *term.Printer, s *chainView) (lines []term.Cell) {
	for i, call := range s.Hooks {
		r := call.record
		text := fmt.Sprintf("%2d  %s  %s", i+1, p.Paint(term.Cyan, term.Printable(call.Hook)), recordText(p, &r))
		if r.FailedOpen && call.Failure == "" {
			text += "  " + term.Printable(string(r.Kind))
		}
		text += detail(hopDetail(&r))
		if r.Kind != audit.HookSkipped {
			text += "  " + p.Paint(term.Dim, s.when(&r))
		}
		lines = append(lines, term.Plain.Cell(text))
		for _, line := range changeLines(call.Changes) {
			lines = append(lines, line.Color.Cell("      "+line.Text))
		}
		if r.Data != nil && len(call.Changes) == 0 {
			lines = append(lines, term.Dim.Cell("      changed the data; what, is not recorded: sha256 "+term.Printable(r.Data.SHA256)))
		}
		if r.Message != "" {
			lines = append(lines, term.Plain.Cell("      says to the user: "+term.Printable(r.Message)))
		}
		if r.Injection != nil && r.Injection.Value != nil {
			lines = append(lines, term.Plain.Cell("      wants to inject: "+term.Clip(term.Printable(textOf(r.Injection.Value)), 4*term.MaxValue)))
		}
	}
	return lines
}

func hopDetail(r *query.Record) string {
	switch {
	case r.Action == "in_vain":
		return "another hook denied or added labels"
	case r.Kind == audit.HookSkipped:
		return "its match was false"
	}
	var parts []string
	for _, text := range [...]string{r.Failure, r.Error, r.Reason} {
		if text != "" {
			parts = append(parts, term.Printable(text))
		}
	}
	if len(r.Labels) > 0 {
		parts = append(parts, "labels "+term.Printable(strings.Join(r.Labels, ", ")))
	}
	return strings.Join(parts, ": ")
}

// changeLines renders changes as a diff.
func changeLines(list []jsonedit.Change) []term.Cell {
	if len(list) == 0 {
		return nil
	}
	patch, err := json.Marshal(list)
	if err != nil {
		return []term.Cell{term.Red.Cell("the changes can't be shown: " + term.Printable(err.Error()))}
	}
	return jsonedit.DiffLines(patch)
}

// textOf returns the text of a JSON string, and any other JSON unchanged.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// effectLines renders the injected context, whether it was dropped, and the messages shown or
// output hidden.
func effectLines(c *query.Chain) (lines []term.Cell) {
	for _, r := range c.Of(audit.InjectionKind, audit.DisplayKind) {
		from := " from " + term.Printable(r.Hook)
		switch {
		case r.Kind == audit.DisplayKind && r.Suppressed:
			lines = append(lines, term.Yellow.Cell("hidden    the output of "+term.Printable(r.Hook)))
		case r.Kind == audit.DisplayKind:
			lines = append(lines, term.Plain.Cell("shown     "+term.Printable(r.Level)+from+": "+term.Printable(r.Message)))
		case r.Dropped != "":
			lines = append(lines, term.Yellow.Cell("dropped   "+injectionOf(r)+from+": "+term.Printable(r.Dropped)))
		default:
			lines = append(lines, term.Plain.Cell("injected  "+injectionOf(r)+from+injectedText(r)))
		}
	}
	return lines
}

func injectionOf(r query.Record) string {
	text := fmt.Sprintf("%s, %s, %s", term.Printable(r.Role), term.Plural(r.Bytes, "byte"), term.Plural(r.Tokens, "token"))
	if r.Ephemeral {
		text += ", ephemeral"
	}
	if r.Cleaned > 0 {
		text += ", " + term.Plural(r.Cleaned, "character") + " taken out"
	}
	return text
}

func injectedText(r query.Record) string {
	if r.Text == nil || r.Text.Value == nil {
		return ""
	}
	return ": " + term.Clip(term.Printable(textOf(r.Text.Value)), 4*term.MaxValue)
}

// outLines renders what the agent received.
func (s *chainView) outLines() []term.Cell {
	r, d := s.result, s.answer()
	switch {
	case r == nil || s.Refused:
		return nil
	case s.pending() && d == nil:
		return []term.Cell{term.Yellow.Cell("nothing yet: it waits for a person")}
	case r.Action == string(chain.Deny), s.pending() && !d.Granted:
		return []term.Cell{term.Red.Cell("nothing: it was denied")}
	case r.Out == nil:
		return []term.Cell{term.Plain.Cell("the data as it came in")}
	case len(s.Changes) > 0:
		lines := append([]term.Cell{term.Plain.Cell("the data as it came in, but for")}, changeLines(s.Changes)...)
		if r.Out.Redacted {
			lines = append(lines, term.Dim.Cell("secrets in it were masked before it was recorded: a change of one does not show here"))
		}
		return lines
	}
	return s.dataLines(r.Out)
}

// when returns how long a call took, and how long after the event's arrival it began.
func (s *chainView) when(r *query.Record) string {
	text := term.Micros(r.Micros)
	if s.result == nil || r.Started.IsZero() {
		return text
	}
	came := s.result.Time.Add(-time.Duration(s.result.Micros) * time.Microsecond)
	return text + " from +" + term.Micros(max(r.Started.Sub(came), 0).Microseconds())
}
