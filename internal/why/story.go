package why

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// The answers that an agent may have received.
const (
	Allowed   = "allowed"
	Denied    = "denied"
	Waiting   = "waiting for a person"
	Refused   = "refused" // an error, which permits nothing
	Unknown   = "not recorded"
	Collected = "collected"
)

// Story describes what happened to one event in one chain.
type Story struct {
	ID      string `json:"id"`   // that was asked about; empty for the last denial
	Kind    string `json:"kind"` // of the id, see [query.Found]
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"` // as the agent was told
	Hook    string `json:"hook,omitempty"`   // that decided, or asked
	Rule    string `json:"rule,omitempty"`   // that decided, as its worker says
	By      string `json:"by,omitempty"`     // the person, rule or time-out that decided
	// Askers are the hooks that asked a person, where it is several.
	Askers []string `json:"askers,omitempty"`
	// RuleText is the rule for people, see [RuleText].
	RuleText string `json:"rule_text,omitempty"`

	Event   string `json:"event"`
	Tool    string `json:"tool,omitempty"`
	Subject string `json:"subject,omitempty"` // the command, path or address that it is about
	EventID string `json:"event_id"`
	ChainID string `json:"chain_id"`
	Session string `json:"session_id"`
	Agent   string `json:"agent,omitempty"`
	Emitter string `json:"emitter,omitempty"` // as far as the connection proves

	Labels []string `json:"labels,omitempty"` // that held for the session
	// Unlabeled are those that a person removed from the session. Relabeled would have been: the
	// session got them again after the person was asked.
	Unlabeled []string `json:"unlabeled,omitempty"`
	Relabeled []string `json:"relabeled,omitempty"`
	Root      string   `json:"root,omitempty"` // the session at the root of its tree, where it is another
	Depth     int      `json:"depth,omitempty"`

	Time     string     `json:"time"`
	Micros   int64      `json:"us"` // the chain took
	Place    string     `json:"place"`
	Stream   string     `json:"stream"` // that the place is in
	Hooks    []Hook     `json:"hooks"`
	Approval []Approval `json:"approvals,omitempty"`
	Next     []string   `json:"next,omitempty"`   // commands to type
	Others   []string   `json:"others,omitempty"` // further chains of the id
	More     bool       `json:"more,omitempty"`   // there are more than these
}

// Hook describes what one hook did.
type Hook struct {
	ID         string          `json:"hook"`
	Action     string          `json:"action,omitempty"`
	Rule       string          `json:"rule,omitempty"`
	RuleText   string          `json:"rule_text,omitempty"` // see [RuleText]
	Policy     string          `json:"policy,omitempty"`    // the version that it answered by, as its worker says
	Reason     string          `json:"reason,omitempty"`
	Failure    string          `json:"failure,omitempty"`
	Error      string          `json:"error,omitempty"`
	FailedOpen bool            `json:"failed_open,omitempty"`
	Skipped    bool            `json:"skipped,omitempty"`
	Shadow     bool            `json:"shadow,omitempty"`
	Micros     int64           `json:"us"`
	Changes    json.RawMessage `json:"changes,omitempty"` // a JSON Patch, with the old values
	Labels     []string        `json:"labels,omitempty"`  // that it added to the session
	Changed    bool            `json:"changed,omitempty"` // with or without recorded changes
}

// Approval is an approval request and its outcome.
type Approval struct {
	ID        string `json:"approval_id"`
	Prompt    string `json:"prompt,omitempty"`
	Decided   string `json:"decided,omitempty"` // empty: not yet
	Granted   bool   `json:"granted"`
	Option    string `json:"option,omitempty"`
	DecidedBy string `json:"decided_by,omitempty"`
	ClaimedBy string `json:"claimed_by,omitempty"`
	Note      string `json:"note,omitempty"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Holds     string `json:"holds,omitempty"` // what an "Allow always" is for, and until when
	// ShadowRule is the rule in shadow that would have answered, and ShadowDecision what.
	ShadowRule     string `json:"shadow_rule,omitempty"`
	ShadowDecision string `json:"shadow_decision,omitempty"`
	Waited         int64  `json:"waited_ms,omitempty"`
	// Reviews are the answers that ended nothing, in sentences.
	Reviews []string `json:"reviews,omitempty"`
	// Revealed are those who were shown its secrets, each once.
	Revealed []string `json:"revealed,omitempty"`

	asked time.Time
}

// Of returns the story of a chain.
func Of(c *query.Chain) Story {
	s := Story{ChainID: c.ID, Verdict: Unknown, Hooks: []Hook{}}
	first := c.Records[0]
	s.EventID, s.Event, s.Session, s.Time = first.EventID, first.Event, first.Session, stamp(first.Time)
	s.Place, s.Stream = first.Place.String(), first.Stream
	for _, r := range c.Calls() {
		s.Hooks = append(s.Hooks, hookOf(r))
	}
	s.approvals(c)
	for _, r := range c.Records {
		switch {
		case r.Kind != audit.LabelsKind:
		case r.Action == "kept":
			s.Relabeled = append(s.Relabeled, r.Labels...)
		default:
			s.Unlabeled = append(s.Unlabeled, r.Labels...)
		}
	}
	s.end(c.Result())
	if r := c.Refused(); r != nil {
		s.Verdict, s.Reason = Refused, cmp.Or(r.Reason, "the audit log did not take its records in time")
		if r.Action == "frozen" || r.Action == "outdated" {
			s.Verdict = Denied
		}
	}
	s.next()
	return s
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func hookOf(r query.Record) Hook {
	return Hook{
		ID: r.Hook, Action: r.Action, Rule: r.Rule, RuleText: RuleText(r.Rule), Policy: r.Policy, Reason: r.Reason, Failure: r.Failure, Error: r.Error, FailedOpen: r.FailedOpen,
		Skipped: r.Kind == audit.HookSkipped, Shadow: r.Shadow, Micros: r.Micros, Changes: r.Changes, Changed: r.Data != nil || len(r.Changes) > 0, Labels: r.Labels,
	}
}

// approvals matches approval requests with their decisions.
func (s *Story) approvals(c *query.Chain) {
	for _, records := range c.Approvals() {
		a := Approval{ID: records[0].ApprovalID}
		for _, r := range records {
			a.add(r)
		}
		s.Approval = append(s.Approval, a)
	}
}

// add adds the information in a record to the approval request.
func (a *Approval) add(r query.Record) {
	a.Prompt = cmp.Or(a.Prompt, r.Prompt)
	switch r.Kind {
	case audit.ApprovalRequested:
		a.asked, a.ShadowRule, a.ShadowDecision = r.Time, cmp.Or(a.ShadowRule, r.ShadowRule), cmp.Or(a.ShadowDecision, r.ShadowDecision)
	case audit.ApprovalReviewed:
		a.Reviews = append(a.Reviews, r.Review())
	case audit.ApprovalRevealed:
		if !slices.Contains(a.Revealed, r.By) {
			a.Revealed = append(a.Revealed, r.By)
		}
	case audit.ApprovalDecided:
		a.Decided, a.Granted, a.Option, a.DecidedBy, a.ClaimedBy, a.Note, a.TimedOut = stamp(r.Time), r.Granted, r.Option, r.DecidedBy, r.ClaimedBy, r.Note, r.TimedOut
		a.Holds = r.Holds()
		if !a.asked.IsZero() {
			a.Waited = max(r.Time.Sub(a.asked).Milliseconds(), 0)
		}
	}
}

// end sets the answer to the agent, and who decided.
func (s *Story) end(r *query.Record) {
	if r == nil {
		return
	}
	s.Labels, s.Root, s.Depth = r.Labels, r.Root, r.Depth
	s.Reason, s.Hook, s.Agent, s.Emitter, s.Micros, s.Time = r.Reason, r.DeniedBy, r.Agent, r.Emitter, r.Micros, stamp(r.Time)
	s.Place, s.Stream = r.Place.String(), r.Stream
	if r.In != nil && r.In.Value != nil {
		s.about(r.In.Value)
	}
	switch r.Action {
	case "deny":
		s.Verdict = Denied
	case "pending", "ask_user":
		s.Verdict = Waiting
		s.asked()
	case "deadline":
		s.Verdict, s.Reason = Refused, "the time was over before every hook was heard"
	case "collect":
		s.Verdict = Collected
	default:
		s.Verdict = Allowed
	}
	if len(s.Approval) > 0 {
		if a := s.Approval[len(s.Approval)-1]; a.Decided != "" {
			s.decided(a)
		}
	}
	for _, h := range s.Hooks {
		if h.ID == s.Hook && !h.Shadow && !h.Skipped {
			s.Rule = cmp.Or(h.Rule, s.Rule)
		}
	}
	s.RuleText = RuleText(s.Rule)
}

func (s *Story) decided(a Approval) {
	s.Verdict, s.By = Denied, a.DecidedBy
	s.asked()
	if a.Granted {
		s.Verdict = Allowed
	}
	s.Reason = cmp.Or(a.Note, s.Reason)
}

// asked sets the hooks that asked a person: the first one, and all of them if there are several.
func (s *Story) asked() {
	s.Hook, s.Askers = "", nil
	for _, h := range s.Hooks {
		if h.Action == "ask_user" && !h.Shadow && !slices.Contains(s.Askers, h.ID) {
			s.Askers = append(s.Askers, h.ID)
		}
	}
	if len(s.Askers) > 0 {
		s.Hook = s.Askers[0]
	}
	if len(s.Askers) == 1 {
		s.Askers = nil
	}
}

// Decided reports whether a hook made the decision: it denied, or asked.
func (s *Story) Decided(h Hook) bool {
	return (h.ID == s.Hook || slices.Contains(s.Askers, h.ID)) && !h.Shadow
}

// about sets what the event's data is about.
func (s *Story) about(data []byte) {
	tool, ok := events.ToolOf(s.Event, data)
	if !ok {
		return
	}
	s.Tool = tool.Name
	s.Subject = tool.Subject()
}
