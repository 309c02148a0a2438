package audit

import (
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// ApprovalRequest is what a person was asked: the detail of [ApprovalRequested].
type ApprovalRequest struct {
	ApprovalID string
	Prompt     string
	Options    []string
	Default    string // what holds when nobody answers
	Expires    time.Time
	DataSHA256 string // of the data that is asked about, in hex
	HookName   string // of the hook that asks, if it is not its id: rules match it
	// ShadowRule is the approval rule in shadow that would have answered, and ShadowDecision
	// what: "allow" or "deny". Empty for none.
	ShadowRule, ShadowDecision string
}

func (q ApprovalRequest) write(w *events.ObjectWriter) {
	w.String("approval_id", q.ApprovalID)
	w.String("prompt", q.Prompt)
	w.Texts("options", q.Options)
	w.String("default", q.Default)
	w.String("expires", q.Expires.UTC().Format(timeLayout))
	w.String("data_sha256", q.DataSHA256)
	w.Text("hook_name", q.HookName)
	w.Text("shadow_rule", q.ShadowRule)
	w.Text("shadow_decision", q.ShadowDecision)
}

// Decision is how an approval request ended: the detail of [ApprovalDecided].
type Decision struct {
	ApprovalID string
	Prompt     string
	Option     string // as offered, or the free text that was given
	Granted    bool
	DecidedBy  string // what the connection proves, or a rule, or the time-out
	ClaimedBy  string // what the answer claims
	Note       string
	TimedOut   bool
	Error      string   // of an approval system that failed
	DataSHA256 string   // of the data that was decided about, in hex
	ApprovedBy []string // all who allowed, where it took several
	Scope      string   // what an "Allow always" is for beyond its session: lineage or agent
	Expires    string   // when it ends, RFC 3339; empty for never
	Nonce      string   // tells two records with the same words apart
}

func (d Decision) write(w *events.ObjectWriter) {
	w.String("approval_id", d.ApprovalID)
	w.Text("prompt", d.Prompt)
	w.Text("option", d.Option)
	w.Raw("granted", strconv.AppendBool(nil, d.Granted))
	w.String("decided_by", d.DecidedBy)
	w.Text("claimed_by", d.ClaimedBy)
	w.Text("note", d.Note)
	w.Flag("timed_out", d.TimedOut)
	w.Text("error", d.Error)
	w.String("data_sha256", d.DataSHA256)
	if len(d.ApprovedBy) > 0 {
		w.Texts("approved_by", d.ApprovedBy)
	}
	w.Text("scope", d.Scope)
	w.Text("grant_expires", d.Expires)
	w.Text("nonce", d.Nonce)
}

// Review is an answer that alone ended nothing: the detail of [ApprovalReviewed].
type Review struct {
	ApprovalID string
	By         string // what the connection proves
	Person     string // whose identity that is; empty for nobody whom the router knows
	ClaimedBy  string // what the answer claims
	Option     string // that allows; empty if the request was passed on
	Note       string
	DataSHA256 string // of the data that it is about, in hex
}

func (r Review) write(w *events.ObjectWriter) {
	w.String("approval_id", r.ApprovalID)
	w.String("by", r.By)
	w.Text("person", r.Person)
	w.Text("claimed_by", r.ClaimedBy)
	w.Text("option", r.Option)
	w.Text("note", r.Note)
	w.String("data_sha256", r.DataSHA256)
}

// Replay is an event that was sent again after it was approved: the detail of
// [ApprovalReplayed].
type Replay struct {
	ApprovalID string
	ChainID    string // of the run that asked
	Emitter    string // who sent the event again, as far as the connection proves
	Reason     string // why it was refused; empty: the permission was given again
	DataSHA256 string // of the data that was approved, in hex
}

func (r Replay) write(w *events.ObjectWriter) {
	w.String("approval_id", r.ApprovalID)
	w.Text("asked_by_chain", r.ChainID)
	w.Text("emitter", r.Emitter)
	w.Text("reason", r.Reason)
	w.String("data_sha256", r.DataSHA256)
}

// Reveal is who was shown the secrets in an approval request: the detail of
// [ApprovalRevealed].
type Reveal struct {
	ApprovalID string
	By         string // what the connection proves
	DataSHA256 string // of the data that was shown, in hex
}

func (r Reveal) write(w *events.ObjectWriter) {
	w.String("approval_id", r.ApprovalID)
	w.String("by", r.By)
	w.String("data_sha256", r.DataSHA256)
}
