package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// auditRecord is the JSON form of a record and of where it stands.
type auditRecord struct {
	Place    string          `json:"place"` // as audit prove takes it
	Stream   string          `json:"stream"`
	Seq      int64           `json:"seq"`
	Position int             `json:"position"`
	Stored   time.Time       `json:"stored"` // as the server says
	Record   json.RawMessage `json:"record,omitempty"`
	Error    string          `json:"error,omitempty"` // why it is none
	Text     string          `json:"text,omitempty"`  // what stands there instead
}

func placed(r query.Record) auditRecord {
	out := auditRecord{Place: r.String(), Stream: r.Stream, Seq: r.Seq, Position: r.Position, Stored: r.Stored.UTC(), Record: r.Line}
	if r.Err != nil {
		out.Record, out.Error, out.Text = nil, r.Err.Error(), clip(strings.ToValidUTF8(string(r.Line), "\ufffd"), 40*maxValue)
	}
	return out
}

// recordTime is how the time of a record is shown.
const recordTime = "2006-01-02 15:04:05.000Z"

// record writes one record in one line.
func (p *printer) record(r query.Record) {
	if p.json {
		p.line(placed(r))
		return
	}
	if r.Err != nil {
		p.print("%s  %s  %s\n", p.paint(dim, r.Stored.UTC().Format(recordTime)), p.paint(red, "UNREADABLE"), p.paint(dim, r.String())+"  "+printable(r.Err.Error()))
		return
	}
	who := printable(r.Hook)
	if who == "" {
		who = "-"
	}
	p.print("%s  %-18s %-16s %-10s %-14s %s%s  %s\n", p.paint(dim, r.Time.UTC().Format(recordTime)), printable(string(r.Kind)),
		orDash(printable(r.Event)), orDash(printable(r.Session)), who, p.did(&r), detail(about(&r)), p.paint(dim, r.String()))
}

func detail(text string) string {
	if text == "" {
		return ""
	}
	return "  " + text
}

// did is what was decided or done, with what failed in front.
func (p *printer) did(r *query.Record) string {
	what := printable(r.Action)
	switch {
	case r.FailedOpen:
		return p.paint(bold+";"+red, "FAILED OPEN")
	case r.Failure != "" || r.Kind == audit.ChainRefused || r.Kind == audit.LogKind:
		return p.paint(red, orDash(what))
	case r.Shadow:
		return p.paint(dim, "would "+what)
	case r.Kind == audit.HookSkipped:
		return p.paint(dim, "skipped")
	}
	return p.paint(actionColor(chain.Action(r.Action)), orDash(what))
}

// about is the rest of a record for people, in one line.
func about(r *query.Record) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	text := func(name, value string) {
		if value != "" {
			add("%s%s", name, clip(printable(value), 2*maxValue))
		}
	}
	switch r.Kind {
	case audit.HookResult, audit.HookError, audit.HookTimeout:
		text("", r.Failure)
		text("", r.Error)
		text("", r.Reason)
		text("to the user: ", r.Message)
		add("%s", micros(r.Micros))
	case audit.ChainResult, audit.ChainRefused:
		text("by ", r.DeniedBy)
		text("", r.Reason)
		text("approval ", r.ApprovalID)
		add("%s called, %d skipped, %s", plural(r.Called, "hook"), r.Skipped, micros(r.Micros))
		text("chain ", r.ChainID)
	case audit.InjectionKind:
		text("dropped: ", r.Dropped)
		add("%s, %s, %s", printable(r.Role), plural(r.Bytes, "byte"), plural(r.Tokens, "token"))
	case audit.ApprovalRequested:
		text("", r.ApprovalID)
		text("", r.Prompt)
	case audit.ApprovalDecided:
		text("", r.ApprovalID)
		text("by ", r.DecidedBy)
		text("claims to be ", r.ClaimedBy)
		text("option ", r.Option)
		text("note: ", r.Note)
		text("error: ", r.Error)
	case audit.DisplayKind:
		if r.Suppressed {
			add("output hidden")
		}
		text(printable(r.Level)+": ", r.Message)
	case audit.RegistrationKind:
		add("revision %d", r.Revision)
		text("by ", r.By)
		text("", r.Reason)
	case audit.LogKind:
		text("", r.Reason)
		if r.Lost > 0 {
			add("%s lost", plural(r.Lost, "record"))
		}
	default:
		text("", r.Reason)
		text("approval ", r.ApprovalID)
	}
	return strings.Join(parts, "; ")
}

// deciderKind sorts those who decide: a person, whoever answered without a name, a
// rule, the time-out, or an error.
func deciderKind(r *query.Record) string {
	switch {
	case r.TimedOut:
		return approval.ByTimeout
	case r.Error != "":
		return "error"
	case strings.HasPrefix(r.DecidedBy, "rule "):
		return "rule"
	case r.DecidedBy == approval.Unauthenticated || r.DecidedBy == "":
		return approval.Unauthenticated
	}
	return "person"
}
