package audit

import (
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// ApprovalRequest is the detail of [ApprovalRequested]: what a person was asked.
type ApprovalRequest struct {
	ApprovalID string
	Prompt     string
	Options    []string
	Default    string // applies if nobody answers
	Expires    time.Time
	DataSHA256 string // of the data to approve, in hex
	HookName   string // name of the hook that asks, if it differs from its id: rules match it
	// ShadowRule is the shadow rule that would have answered, and ShadowDecision its answer,
	// "allow" or "deny". Both are empty if there is none.
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

// Decision is the detail of [ApprovalDecided]: how an approval request ended.
type Decision struct {
	ApprovalID string
	Prompt     string
	Option     string // as offered, or free text
	Granted    bool
	DecidedBy  string // the proven identity, a rule, or the time-out
	ClaimedBy  string // the name that the answer claims
	Note       string
	TimedOut   bool
	Error      string   // of a failed approval system
	DataSHA256 string   // of the data that was decided on, in hex
	ApprovedBy []string // all identities that allowed, if several had to
	Scope      string   // of an "Allow always" beyond its session: lineage or agent
	Expires    string   // when that ends, RFC 3339; empty for never
	Nonce      string   // distinguishes otherwise equal records
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

// Review is the detail of [ApprovalReviewed]: an answer that did not end its request.
type Review struct {
	ApprovalID string
	By         string // the proven identity
	Person     string // the person with that identity; empty if the router knows none
	ClaimedBy  string // the name that the answer claims
	Option     string // the option that allows; empty if the request was passed on
	Note       string
	DataSHA256 string // of the data to approve, in hex
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

// Replay is the detail of [ApprovalReplayed]: an event was sent again after it was approved.
type Replay struct {
	ApprovalID string
	ChainID    string // of the run that asked
	Emitter    string // the proven sender who sent the event again
	Reason     string // why it was refused; empty if the permission was given again
	DataSHA256 string // of the approved data, in hex
}

func (r Replay) write(w *events.ObjectWriter) {
	w.String("approval_id", r.ApprovalID)
	w.Text("asked_by_chain", r.ChainID)
	w.Text("emitter", r.Emitter)
	w.Text("reason", r.Reason)
	w.String("data_sha256", r.DataSHA256)
}

// Reveal is the detail of [ApprovalRevealed]: somebody was shown the secrets of an approval
// request.
type Reveal struct {
	ApprovalID string
	By         string // the proven identity
	DataSHA256 string // of the data that was shown, in hex
}

func (r Reveal) write(w *events.ObjectWriter) {
	w.String("approval_id", r.ApprovalID)
	w.String("by", r.By)
	w.String("data_sha256", r.DataSHA256)
}
