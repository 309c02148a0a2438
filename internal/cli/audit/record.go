package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// record is the JSON form of a record and its place in the log.
type record struct {
	Place    string          `json:"place"` // as audit prove takes it
	Stream   string          `json:"stream"`
	Seq      int64           `json:"seq"`
	Position int             `json:"position"`
	Stored   time.Time       `json:"stored"` // as the server says
	Record   json.RawMessage `json:"record,omitempty"`
	Error    string          `json:"error,omitempty"` // why it is none
	Text     string          `json:"text,omitempty"`  // what is there instead
}

func placed(r query.Record) record {
	out := record{Place: r.String(), Stream: r.Stream, Seq: r.Seq, Position: r.Position, Stored: r.Stored.UTC(), Record: r.Line}
	if r.Err != nil {
		out.Record, out.Error, out.Text = nil, r.Err.Error(), term.Clip(strings.ToValidUTF8(string(r.Line), "\ufffd"), 40*term.MaxValue)
	}
	return out
}

// RecordTime is the format of a record's time.
const RecordTime = "2006-01-02 15:04:05.000Z"

// showRecord prints a record on one line, which a terminal may have to fold.
func showRecord(p *term.Printer, r query.Record) {
	if p.Line(placed(r)) {
		return
	}
	if r.Err != nil {
		p.Fold(fmt.Sprintf("%s  %s  %s", p.Paint(term.Dim, r.Stored.UTC().Format(RecordTime)), p.Paint(term.Red, "UNREADABLE"), p.Paint(term.Dim, r.String())+"  "+term.Printable(r.Err.Error())))
		return
	}
	who := term.Printable(r.Hook)
	who = cmp.Or(who, "-")
	p.Fold(fmt.Sprintf("%s  %-18s %-16s %-10s %-14s %s%s  %s", p.Paint(term.Dim, r.Time.UTC().Format(RecordTime)), term.Printable(string(r.Kind)),
		term.OrDash(term.Printable(r.Event)), term.Word(r.Session), who, recordText(p, &r), detail(about(&r)), p.Paint(term.Dim, r.String())))
}

func detail(text string) string {
	if text == "" {
		return ""
	}
	return "  " + text
}

// recordText returns what was decided or done. A failure comes first.
func recordText(p *term.Printer, r *query.Record) string {
	what := term.Printable(r.Action)
	switch {
	case r.FailedOpen:
		return p.Paint(term.Bold+";"+term.Red, "FAILED OPEN")
	case r.Failure != "" || r.Kind == audit.ChainRefused || r.Kind == audit.LogKind:
		return p.Paint(term.Red, term.OrDash(what))
	case r.Late:
		if a := chain.Action(r.Action); a != chain.Continue && a != chain.InjectContext {
			what += ", discarded"
		}
		return p.Paint(term.Dim, "late: "+what)
	case r.Shadow:
		return p.Paint(term.Dim, "would "+what)
	case r.Kind == audit.HookSkipped:
		return p.Paint(term.Dim, skipped(r))
	}
	return p.Paint(cli.ActionColor(chain.Action(r.Action)), term.OrDash(what))
}

// skipped returns why a hook's answer was not used.
func skipped(r *query.Record) string {
	if r.Action == "in_vain" {
		return "answer discarded"
	}
	return "skipped"
}

// parts are the parts of a line about a record.
type parts []string

func (p *parts) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// text adds a value with a label, unless the value is empty.
func (p *parts) text(name, value string) {
	if value != "" {
		p.add("%s%s", name, term.Clip(term.OneLine(value), 2*term.MaxValue))
	}
}

// about returns the remaining fields of a record on one line.
func about(r *query.Record) string {
	var p parts
	switch r.Kind {
	case audit.HookResult, audit.HookError, audit.HookTimeout:
		p.text("", r.Failure)
		p.text("", r.Error)
		p.text("", r.Reason)
		p.text("to the user: ", r.Message)
		p.text("labels ", strings.Join(r.Labels, ", "))
		p.add("%s", term.Micros(r.Micros))
	case audit.ChainResult, audit.ChainRefused:
		p.text("by ", r.DeniedBy)
		p.text("", r.Reason)
		p.text("approval ", r.ApprovalID)
		p.text("labels ", strings.Join(r.Labels, ", "))
		p.add("%s called, %d skipped, %s", term.Plural(r.Called, "hook"), r.Skipped, term.Micros(r.Micros))
		p.text("chain ", r.ChainID)
	case audit.InjectionKind:
		p.text("dropped: ", r.Dropped)
		p.add("%s, %s, %s", term.Printable(r.Role), term.Plural(r.Bytes, "byte"), term.Plural(r.Tokens, "token"))
	case audit.DisplayKind:
		if r.Suppressed {
			p.add("output hidden")
		}
		p.text(term.Printable(r.Level)+": ", r.Message)
	case audit.ApprovalRequested, audit.ApprovalDecided, audit.ApprovalReviewed, audit.ApprovalRevealed:
		p.approval(r)
	default:
		p.order(r)
	}
	return strings.Join(p, "; ")
}

// approval adds the fields of a record about an approval request.
func (p *parts) approval(r *query.Record) {
	p.text("", r.ApprovalID)
	switch r.Kind {
	case audit.ApprovalRequested:
		if r.ShadowRule != "" {
			p.text("in shadow rule "+term.Printable(r.ShadowRule)+" would ", r.ShadowDecision)
		}
		p.text("", r.Prompt)
	case audit.ApprovalDecided:
		p.text("by ", r.DecidedBy)
		p.text("claims to be ", r.ClaimedBy)
		p.text("option ", r.Option)
		p.text("", r.Holds())
		p.text("note: ", r.Note)
		p.text("error: ", r.Error)
	case audit.ApprovalReviewed:
		p.text("", r.Review())
		p.text("claims to be ", r.ClaimedBy)
	case audit.ApprovalRevealed:
		p.text("by ", r.By)
	}
}

// order adds the fields of a record about an operator's command, a registration or the log itself.
func (p *parts) order(r *query.Record) {
	switch r.Kind {
	case audit.RegistrationKind:
		if r.Revision > 0 { // 0 if it was recorded before it was stored
			p.add("revision %d", r.Revision)
		}
		p.text("by ", r.By)
		p.text("", r.Reason)
	case audit.PolicyKind:
		p.text("", r.Policy)
		p.text("to ", r.Use)
		p.text("after ", r.Was)
		p.text("from commit ", r.Commit)
		p.text("by ", r.By)
	case audit.IdentityKind:
		p.text("", r.Name)
		p.text("", r.Digest)
	case audit.LogKind:
		p.text("", r.Reason)
		if r.Lost > 0 {
			p.add("%s lost", term.Plural(r.Lost, "record"))
		}
	default:
		p.text("", strings.Join(r.Labels, ", "))
		p.text("", r.Reason)
		p.text("approval ", r.ApprovalID)
		p.text("by ", r.DecidedBy)
	}
}

// deciderKind returns who decided: a person, an unnamed person, a rule, the timeout, an error, or
// nobody because the request was outdated.
func deciderKind(r *query.Record) string {
	switch {
	case r.TimedOut:
		return approval.ByTimeout
	case r.Error != "":
		return "error"
	case r.DecidedBy == approval.ByOutdated:
		return approval.ByOutdated
	case strings.HasPrefix(r.DecidedBy, "rule "):
		return "rule"
	case r.DecidedBy == approval.Unauthenticated || r.DecidedBy == "":
		return approval.Unauthenticated
	}
	return "person"
}
