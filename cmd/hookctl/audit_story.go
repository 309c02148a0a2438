package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func readChanges(patch []byte) (list []change, err error) {
	if len(patch) == 0 {
		return nil, nil
	}
	err = json.Unmarshal(patch, &list)
	return list, err
}

// story tells a chain.
func (p *printer) story(s *story) {
	if p.json {
		p.document(s)
		return
	}
	p.table(s.head())
	in := section{"came in", nil}
	if s.result != nil {
		in.lines = dataLines(s.result.In)
	} else {
		in.lines = []cell{{"the log does not have the chain's result", red}}
	}
	p.section(in)
	p.section(section{"hooks", p.hopLines(s)})
	p.section(section{"for the agent and its user", p.effectLines(s.chain)})
	for _, a := range s.Approvals {
		p.section(section{"asked " + printable(a.ApprovalID), p.approvalLines(a)})
	}
	p.section(section{"went out", s.outLines()})
}

func (p *printer) section(s section) {
	if len(s.lines) == 0 {
		return
	}
	p.print("\n%s\n", p.paint(dim, s.head))
	for _, line := range s.lines {
		p.print("%s\n", p.paint(line.color, line.text))
	}
}

func (s *story) head() [][]cell {
	first := s.chain.Records[0]
	action := cell{orDash(printable(s.Action)), actionColor(chain.Action(s.Action))}
	if s.DeniedBy != "" {
		action.text += " by " + printable(s.DeniedBy)
	}
	if s.Reason != "" {
		action.text += ": " + printable(s.Reason)
	}
	if s.Refused {
		action = cell{"REFUSED: the log had not taken the records in time, and the agent got an error, which allows nothing", red}
	}
	rows := [][]cell{{{orDash(printable(s.Event)), bold}, action}}
	add := func(head, text, color string) {
		if text != "" {
			rows = append(rows, []cell{{head, dim}, {text, color}})
		}
	}
	if len(s.FailedOpen) > 0 {
		add("FAILED OPEN", printable(strings.Join(s.FailedOpen, ", "))+": failed and let pass", bold+";"+red)
	}
	add("chain", printable(s.ChainID), plain)
	add("event", printable(s.EventID), plain)
	add("session", printable(s.Session), plain)
	add("agent", printable(s.Agent), plain)
	if r := s.result; r != nil {
		add("took", fmt.Sprintf("%s, %s called, %d skipped", micros(r.Micros), plural(r.Called, "hook"), r.Skipped), plain)
		first = *r
	}
	add("recorded", fmt.Sprintf("%s, at %s of %s", first.Time.UTC().Format(recordTime), first.Place, printable(first.Stream)), plain)
	return rows
}

// dataLines is what a record says of data.
func dataLines(d *query.Data) []cell {
	switch {
	case d == nil:
		return []cell{{"no data is recorded", dim}}
	case d.Omitted > 0:
		return []cell{{plural(d.Omitted, "byte") + ", too large to be recorded; sha256 " + printable(d.SHA256), dim}}
	case d.Value == nil:
		return []cell{{"only a digest is recorded: sha256 " + printable(d.SHA256), dim}}
	}
	lines := cells(printableLines(indented(d.Value), maxLines), plain)
	if d.Redacted {
		lines = append(lines, cell{"secrets in it were masked before it was recorded", dim})
	}
	return lines
}

// hopLines is what each hook did, and changed.
func (p *printer) hopLines(s *story) (lines []cell) {
	for i, hop := range s.Hooks {
		r := hop.record
		text := fmt.Sprintf("%2d  %s  %s", i+1, p.paint(cyan, printable(hop.Hook)), p.did(&r))
		if r.FailedOpen && hop.Failure == "" {
			text += "  " + printable(string(r.Kind))
		}
		text += detail(hopDetail(&r))
		if r.Kind != audit.HookSkipped {
			text += "  " + p.paint(dim, s.when(&r))
		}
		lines = append(lines, cell{text, plain})
		for _, line := range changeLines(hop.Changes) {
			lines = append(lines, cell{"      " + line.text, line.color})
		}
		if r.Data != nil && len(hop.Changes) == 0 {
			lines = append(lines, cell{"      changed the data; what, is not recorded: sha256 " + printable(r.Data.SHA256), dim})
		}
		if r.Message != "" {
			lines = append(lines, cell{"      says to the user: " + printable(r.Message), plain})
		}
		if r.Injection != nil && r.Injection.Value != nil {
			lines = append(lines, cell{"      wants to inject: " + clip(printable(textOf(r.Injection.Value)), 4*maxValue), plain})
		}
	}
	return lines
}

// when is how long a call took, and how long after the event's arrival it began.
func (s *story) when(r *query.Record) string {
	text := micros(r.Micros)
	if s.result == nil || r.Started.IsZero() {
		return text
	}
	came := s.result.Time.Add(-time.Duration(s.result.Micros) * time.Microsecond)
	return text + " from +" + micros(max(r.Started.Sub(came), 0).Microseconds())
}

func hopDetail(r *query.Record) string {
	if r.Kind == audit.HookSkipped {
		return "its match said no"
	}
	var parts []string
	for _, text := range [...]string{r.Failure, r.Error, r.Reason} {
		if text != "" {
			parts = append(parts, printable(text))
		}
	}
	return strings.Join(parts, ": ")
}

// changeLines is what changed, as a diff.
func changeLines(list []change) []cell {
	if len(list) == 0 {
		return nil
	}
	patch, err := json.Marshal(list)
	if err != nil {
		return []cell{{"the changes can't be shown: " + printable(err.Error()), red}}
	}
	return diffLines(patch)
}

// textOf is the text of a JSON string, and any other JSON as it is.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// effectLines is what was put into the agent's context or dropped, shown or hidden.
func (p *printer) effectLines(c *query.Chain) (lines []cell) {
	for _, r := range c.Of(audit.InjectionKind, audit.DisplayKind) {
		from := " from " + printable(r.Hook)
		switch {
		case r.Kind == audit.DisplayKind && r.Suppressed:
			lines = append(lines, cell{"hidden    the output of " + printable(r.Hook), yellow})
		case r.Kind == audit.DisplayKind:
			lines = append(lines, cell{"shown     " + printable(r.Level) + from + ": " + printable(r.Message), plain})
		case r.Dropped != "":
			lines = append(lines, cell{"dropped   " + injectionOf(r) + from + ": " + printable(r.Dropped), yellow})
		default:
			lines = append(lines, cell{"injected  " + injectionOf(r) + from + injectedText(r), plain})
		}
	}
	return lines
}

func injectionOf(r query.Record) string {
	text := fmt.Sprintf("%s, %s, %s", printable(r.Role), plural(r.Bytes, "byte"), plural(r.Tokens, "token"))
	if r.Ephemeral {
		text += ", ephemeral"
	}
	if r.Cleaned > 0 {
		text += ", " + plural(r.Cleaned, "character") + " taken out"
	}
	return text
}

func injectedText(r query.Record) string {
	if r.Text == nil || r.Text.Value == nil {
		return ""
	}
	return ": " + clip(printable(textOf(r.Text.Value)), 4*maxValue)
}

// approvalLines is a question and who decided it, and when.
func (p *printer) approvalLines(a storyApproval) (lines []cell) {
	lines = append(lines, cells(printableLines(a.Prompt, maxLines), bold)...)
	if q := a.question; q != nil {
		text := fmt.Sprintf("%s  by %s: %s; until %s, then %s", a.Asked, printable(q.Hook), printable(strings.Join(q.Options, " | ")),
			q.Expires.UTC().Format(recordTime), printable(q.Default))
		lines = append(lines, cell{text, plain})
	}
	d := a.decision
	if d == nil {
		return append(lines, cell{"not decided yet", yellow})
	}
	what, color := "denied", red
	if d.Granted {
		what, color = "granted", green
	}
	text := fmt.Sprintf("%s  %s by %s", a.Decided, what, printable(d.DecidedBy))
	if d.Option != "" {
		text += fmt.Sprintf(", %q", printable(d.Option))
	}
	if d.ClaimedBy != "" {
		text += ", who claims to be " + printable(d.ClaimedBy)
	}
	if a.question != nil {
		text += ", after " + span(d.Time.Sub(a.question.Time))
	}
	if d.Note != "" {
		text += "; note: " + printable(d.Note)
	}
	if d.Error != "" {
		text += "; error: " + printable(d.Error)
	}
	return append(lines, cell{text, color})
}

// outLines is what the agent was told.
func (s *story) outLines() []cell {
	r := s.result
	switch {
	case r == nil || s.Refused:
		return nil
	case r.Action == string(chain.Deny):
		return []cell{{"nothing: it was denied", red}}
	case r.Out == nil:
		return []cell{{"the data as it came in", plain}}
	case len(s.Changes) > 0:
		return append([]cell{{"the data as it came in, but for", plain}}, changeLines(s.Changes)...)
	}
	return dataLines(r.Out)
}
