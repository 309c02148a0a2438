package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/verifierkeys"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Verified is the JSON form of a verification.
type Verified struct {
	Verdict audit.Verdict  `json:"verdict"`
	Reason  string         `json:"reason"`
	Line    int64          `json:"line,omitempty"`
	Seq     int64          `json:"seq,omitempty"`
	Of      string         `json:"of"` // the part that the reason is about: a file or a stream
	Keys    []string       `json:"keys"`
	OnTrust bool           `json:"keys_on_trust,omitempty"`
	Parts   []verifiedPart `json:"parts"`
}

type verifiedPart struct {
	Of          string        `json:"of"`
	Origin      string        `json:"origin,omitempty"`
	Verdict     audit.Verdict `json:"verdict"`
	Reason      string        `json:"reason"`
	Line        int64         `json:"line,omitempty"`
	Seq         int64         `json:"seq,omitempty"`
	Messages    int64         `json:"messages"`
	Records     int64         `json:"records"`
	Checkpoints int64         `json:"checkpoints"`
	Witnessed   int64         `json:"witnessed"` // up to which message a witness has signed
	Size        int64         `json:"head_size,omitempty"`
	Root        string        `json:"head_root,omitempty"`
	Time        string        `json:"head_time,omitempty"`
	Digest      string        `json:"head_digest,omitempty"`
	Previous    string        `json:"previous,omitempty"` // the digest that it goes on from
	PinFile     string        `json:"pin_file,omitempty"`
	Pinned      int64         `json:"pinned_size,omitempty"` // that was known before
	Notes       []string      `json:"notes,omitempty"`
}

func (p *part) verified() verifiedPart {
	r := p.report
	out := verifiedPart{
		Of: p.what, Origin: p.header.Origin, Verdict: r.Verdict, Reason: r.Reason, Line: r.Line, Seq: r.Seq, Messages: r.Messages,
		Records: r.Records, Checkpoints: r.Checkpoints, Witnessed: r.Witnessed, Previous: digestText(p.previous), Notes: p.odd,
	}
	if r.Head != nil {
		out.Size, out.Root, out.Time, out.Digest = r.Head.Size, r.Head.Root.String(), r.Head.Time.Format(RecordTime), r.Head.Digest().String()
	}
	if p.pin != nil {
		out.Pinned = p.pin.Size
	}
	if r.Pin != nil || p.pin != nil {
		out.PinFile = p.path
	}
	return out
}

// show prints the verdict, then the details.
func (v *verification) show(verdict audit.Verdict) {
	worst := v.parts[0]
	for _, p := range v.parts {
		if p.report.Verdict == verdict {
			worst = p
			if !verdict.OK() {
				break // the first of several failed parts
			}
		}
	}
	v.hint(worst)
	out, reason := v.env.Out, worst.report.Reason
	if verdict.OK() {
		reason = strings.Join(append([]string{reason}, v.gone...), "; ")
	}
	doc := Verified{
		Verdict: verdict, Reason: reason, Line: worst.report.Line, Seq: worst.report.Seq, Of: worst.what,
		Keys: verifierkeys.Texts(v.trust.routers), OnTrust: v.onTrust,
	}
	for _, p := range v.parts {
		doc.Parts = append(doc.Parts, p.verified())
	}
	if out.Document(doc) {
		return
	}
	said := v.where(worst.report) + reason
	if len(doc.Parts) > 1 {
		said = term.Printable(worst.what) + ": " + said
	}
	rows := term.Facts{{verdictPaint(verdict).Cell(string(verdict)), term.Bold.Cell(said)}}
	for i, p := range doc.Parts {
		if len(doc.Parts) > 1 {
			rows = append(rows, term.Row(""), []term.Cell{term.Cyan.Cell(p.Of), verdictPaint(p.Verdict).Cell(string(p.Verdict))})
			if !p.Verdict.OK() && v.parts[i] != worst {
				rows.Add("because", v.where(v.parts[i].report)+p.Reason, term.Plain)
			}
		}
		p.rows(&rows)
	}
	if len(doc.Parts) > 1 {
		rows = append(rows, term.Row(""))
	}
	trust := ""
	if v.onTrust || v.trustedBefore() {
		trust = ", taken on trust when it was first seen"
	}
	if len(v.trust.routers) > 0 {
		rows.Add("keys", verifierkeys.Names(v.trust.routers)+trust, term.Plain)
	}
	if len(v.trust.witnesses) > 0 {
		rows.Add("witnesses", verifierkeys.Names(v.trust.witnesses), term.Plain)
	}
	out.Table(rows)
}

func (p verifiedPart) rows(rows *term.Facts) {
	add := rows.Add
	add("log", term.Printable(p.Origin), term.Plain)
	if p.Origin != "" {
		add("read", fmt.Sprintf("%s with %s and %s", term.Plural(int(p.Messages), "message"), term.Plural(int(p.Records), "record"), term.Plural(int(p.Checkpoints), "checkpoint")), term.Plain)
	}
	if p.Size > 0 {
		add("head", fmt.Sprintf("size %d, of %s", p.Size, p.Time), term.Plain)
		add("root", p.Root, term.Plain)
	}
	if p.Witnessed > 0 {
		add("witnessed", fmt.Sprintf("up to message %d", p.Witnessed), term.Plain)
	}
	if p.PinFile != "" {
		text := "none before"
		if p.Pinned > 0 {
			text = fmt.Sprintf("size %d before", p.Pinned)
		}
		if p.Verdict.OK() {
			text += fmt.Sprintf(", %d now", p.Messages)
		}
		add("pin", text, term.Plain)
		rows.AddWhole("", term.Printable(p.PinFile))
	}
	for _, text := range p.Notes {
		add("note", term.Printable(text), term.Yellow)
	}
}

// trustedBefore reports whether the keys come from a pin that trusts them on first use.
func (v *verification) trustedBefore() bool {
	return len(v.cmd.Key) == 0 && slices.ContainsFunc(v.parts, func(p *part) bool { return p.pin != nil && p.pin.OnTrust })
}

// hint prints a possible cause of a verdict that a pin decided.
func (v *verification) hint(worst *part) {
	if worst.pin == nil || !worst.report.Differs || v.cmd.Pin != "" {
		return
	}
	fmt.Fprintf(v.env.Stderr, "hookctl: it was compared with %s, which was verified %s in %s; where that is another deployment with a log of the same name, use --pin with a file of its own\n",
		term.Printable(worst.path), worst.pin.Verified.Format(RecordTime), term.Printable(worst.pin.From))
}

// where returns the line and the sequence of a finding. A running log has no lines.
func (v *verification) where(r audit.Report) string {
	var at []string
	if r.Line > 0 && v.from == "" {
		at = append(at, fmt.Sprintf("line %d", r.Line))
	}
	if r.Seq > 0 {
		at = append(at, fmt.Sprintf("sequence %d", r.Seq))
	}
	if len(at) == 0 {
		return ""
	}
	return strings.Join(at, ", ") + ": "
}

func verdictPaint(v audit.Verdict) term.Color {
	switch {
	case v == audit.OKUnanchored, v == audit.Incomplete, v == audit.UnknownFormat:
		return term.Bold + ";" + term.Yellow
	case v.OK():
		return term.Bold + ";" + term.Green
	}
	return term.Bold + ";" + term.Red
}
