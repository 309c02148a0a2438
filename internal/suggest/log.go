package suggest

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Kinds are the kinds of records that a [Log] reads.
var Kinds = []audit.Kind{audit.ApprovalRequested, audit.ApprovalDecided, audit.ChainResult}

// Question is an approval request as recorded in the log, and its outcome.
type Question struct {
	Session string
	Asked   time.Time
	// Facts are what rules match. They have no command if it is not plain.
	Facts approval.Facts
	// Shown is the command for display, plain or not; empty if there is none.
	Shown string
	// Unknown says why the data is unknown; empty if it is known.
	Unknown string

	Decided bool
	Granted bool
	By      string // who decided; see [approval.Decision]
	Silent  bool   // nobody decided: the request timed out, or the approval system failed
	Several bool   // several people had to answer; no rule replaces them
	Merged  bool   // several hooks asked at once, and rules match each question separately

	ShadowRule, ShadowDecision string
}

// Person reports whether a person answered, with or without a proven identity.
func (q *Question) Person() bool {
	return q.Decided && !q.Silent && !strings.HasPrefix(q.By, "rule ") && q.By != approval.ByTimeout && q.By != approval.ByOutdated
}

// Log has the approval requests and denials of the audit log. The zero Log is empty.
type Log struct {
	questions map[string]*Question
	order     []*Question
	denied    map[string]bool // commands that hooks denied
	proven    bool            // some sender or person has a proven identity
}

// Questions returns the approval requests, oldest first.
func (l *Log) Questions() []*Question {
	return slices.DeleteFunc(slices.Clone(l.order), func(q *Question) bool { return q.Asked.IsZero() }) // asked before the period
}

func (l *Log) question(id string) *Question {
	q := l.questions[id]
	if q == nil {
		if l.questions == nil {
			l.questions = map[string]*Question{}
		}
		q = &Question{Unknown: "the log does not have its data"}
		l.questions[id], l.order = q, append(l.order, q)
	}
	return q
}

// Add reads a record. It ignores records about anything else.
func (l *Log) Add(r *query.Record) {
	if r.Err != nil {
		return
	}
	switch r.Kind {
	case audit.ApprovalRequested:
		if q := l.question(r.ApprovalID); q.Asked.IsZero() {
			q.Session, q.Asked = r.Session, r.Time
			q.Facts.Hook, q.Facts.Prompt = cmp.Or(r.HookName, r.Hook), r.Prompt
			q.ShadowRule, q.ShadowDecision = r.ShadowRule, r.ShadowDecision
			q.Merged = strings.Contains(r.Hook, "+") // separates the ids of several hooks; no id contains it
		}
	case audit.ApprovalDecided:
		q := l.question(r.ApprovalID)
		q.Decided, q.Granted, q.By, q.Silent = true, r.Granted, r.DecidedBy, r.TimedOut || r.Error != ""
		q.Several = len(r.ApprovedBy) > 0
		l.proven = l.proven || strings.HasPrefix(r.DecidedBy, "nats ")
	case audit.ChainResult:
		l.proven = l.proven || r.Emitter != ""
		l.chain(r)
	default:
	}
}

// masked matches the placeholder of a masked secret.
var masked = regexp.MustCompile(`\[REDACTED[^]]*\]`)

func (l *Log) chain(r *query.Record) {
	var views []json.RawMessage // the data as it came in, and as the chain left it
	hidden, unknown := false, ""
	for _, d := range []*query.Data{r.In, r.Out} {
		switch {
		case d == nil:
		case len(d.Value) == 0:
			unknown = "the log does not have its data"
		default:
			views, hidden = append(views, d.Value), hidden || d.Redacted
		}
	}
	if r.Action == "deny" {
		for _, data := range views {
			if tool, ok := events.ToolOf(r.Event, data); ok {
				l.deny(tool.Command)
			}
		}
		return
	}
	if r.ApprovalID == "" || len(views) == 0 {
		return
	}
	q, data := l.question(r.ApprovalID), views[len(views)-1]
	f := &q.Facts
	f.Labels, f.Emitter, f.Root, f.Depth = r.Labels, r.Emitter, cmp.Or(r.Root, r.Session), r.Depth
	f.Role, _, _ = strings.Cut(strings.TrimPrefix(r.Emitter, "nats "), "/")
	tool, _ := events.ToolOf(r.Event, data)
	q.Shown, q.Unknown, f.Tool = tool.Subject(), unknown, ""
	if o, err := events.ParseObject(data); err == nil {
		f.Tool, _ = o.GetString("tool_name")
	}
	if hidden {
		q.Unknown = "a secret in it is masked"
	}
	if q.Unknown == "" {
		*f = f.WithCall(r.Event, data)
	}
}

// deny records a denied command. A plain word replaces each masked part, so that no rule is created
// that might match the original.
func (l *Log) deny(command string) {
	if l.denied == nil {
		l.denied = map[string]bool{}
	}
	if command = masked.ReplaceAllString(command, "masked"); approval.PlainCommand(command) {
		l.denied[command] = true
	}
}

// refused returns the commands that hooks or people denied, in any session and by any hook.
func (l *Log) refused() map[string]bool {
	for _, q := range l.order {
		if q.Decided && !q.Granted && !q.Silent {
			l.deny(q.Shown)
		}
	}
	return l.denied
}
