package audit

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// approvalView is an approval request and its decision.
type approvalView struct {
	ApprovalID string `json:"approval_id"`
	Prompt     string `json:"prompt,omitempty"`
	Asked      string `json:"asked,omitempty"`
	Decided    string `json:"decided,omitempty"` // empty: not yet
	Granted    bool   `json:"granted"`
	Option     string `json:"option,omitempty"`
	DecidedBy  string `json:"decided_by,omitempty"`
	ClaimedBy  string `json:"claimed_by,omitempty"`
	Holds      string `json:"holds,omitempty"` // what an "Allow always" is for, and until when

	Reviews  []string     `json:"reviews,omitempty"`  // answers that ended nothing
	Revealed []revelation `json:"revealed,omitempty"` // who was shown its secrets

	request, decision *query.Record
}

// revelation records who saw the secrets of an approval request.
type revelation struct {
	By   string `json:"by"`
	Time string `json:"time"`
}

// approvals groups the records of each approval request.
func (s *chainView) approvals() {
	for _, records := range s.chain.Approvals() {
		a := approvalView{ApprovalID: records[0].ApprovalID}
		for _, r := range records {
			a.add(&r)
		}
		s.Approvals = append(s.Approvals, a)
	}
}

// add merges a record into the approval request.
func (a *approvalView) add(r *query.Record) {
	a.Prompt = cmp.Or(r.Prompt, a.Prompt)
	switch r.Kind {
	case audit.ApprovalRequested:
		if a.request == nil {
			a.request, a.Asked = r, r.Time.UTC().Format(RecordTime)
		}
	case audit.ApprovalReviewed:
		a.Reviews = append(a.Reviews, r.Review())
	case audit.ApprovalRevealed:
		a.Revealed = append(a.Revealed, revelation{r.By, r.Time.UTC().Format(RecordTime)})
	case audit.ApprovalDecided:
		a.decision, a.Decided = r, r.Time.UTC().Format(RecordTime)
		a.Granted, a.Option, a.DecidedBy, a.ClaimedBy, a.Holds = r.Granted, r.Option, r.DecidedBy, r.ClaimedBy, r.Holds()
	}
}

// answer returns the decision on the last approval request. It returns nil if the chain made none,
// or the request is still open.
func (s *chainView) answer() *query.Record {
	if len(s.Approvals) == 0 {
		return nil
	}
	return s.Approvals[len(s.Approvals)-1].decision
}

// approvalLines renders an approval request, who decided it, and when.
func approvalLines(a approvalView) (lines []term.Cell) {
	lines = append(lines, term.Cells(term.Quoted(term.PrintableLines(a.Prompt, term.MaxLines)), term.Bold)...)
	if q := a.request; q != nil {
		text := fmt.Sprintf("%s  by %s: %s; until %s, then %s", a.Asked, term.Printable(q.Hook), term.Printable(strings.Join(q.Options, " | ")),
			q.Expires.UTC().Format(RecordTime), term.Printable(q.Default))
		lines = append(lines, term.Plain.Cell(text))
		if q.ShadowRule != "" {
			lines = append(lines, term.Yellow.Cell(fmt.Sprintf("rule %s, in shadow, would %s", term.Printable(q.ShadowRule), term.Printable(q.ShadowDecision))))
		}
	}
	for _, review := range a.Reviews {
		lines = append(lines, term.Plain.Cell(term.Printable(review)))
	}
	for _, r := range a.Revealed {
		lines = append(lines, term.Yellow.Cell(r.Time+"  its secrets were shown to "+term.Printable(r.By)))
	}
	d := a.decision
	if d == nil {
		return append(lines, term.Yellow.Cell("not decided yet"))
	}
	end := outcome(d)
	text := a.Decided + "  " + end.Text
	if d.Option != "" {
		text += fmt.Sprintf(", %q", term.Printable(d.Option))
	}
	if holds := d.Holds(); holds != "" {
		text += " " + term.Printable(holds)
	}
	if d.ClaimedBy != "" {
		text += ", who claims to be " + term.Printable(d.ClaimedBy)
	}
	if a.request != nil {
		text += ", after " + term.Waited(d.Time.Sub(a.request.Time))
	}
	if d.Note != "" {
		text += "; note: " + term.Printable(d.Note)
	}
	if d.Error != "" {
		text += "; error: " + term.Printable(d.Error)
	}
	return append(lines, end.Color.Cell(text))
}
