package approvals

import (
	"encoding/json"
	"time"

	"github.com/hookrouter/hookrouter/internal/approvals/held"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// keptAfter is how long an approval request and its decision are kept after the deadline.
const keptAfter = 24 * time.Hour

// Bucket is the configuration of the bucket of approval requests.
func Bucket(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_approvals", Description: "approval requests, and the data they are about", Replicas: replicas, LeaderReads: true,
	}
}

// storedDecision is a decision in the audit log.
type storedDecision struct {
	Time approval.Time `json:"time"`
	Kind audit.Kind    `json:"kind"`
	approval.Decision
	Approval string `json:"approval_id"`
	Nonce    string `json:"nonce"` // tells equal appends apart
}

func (s *Service) decisionRecord(r *held.Event, decision approval.Decision, nonce string) []byte {
	expires := ""
	if !decision.GrantExpires.IsZero() {
		expires = decision.GrantExpires.String()
	}
	record := audit.Record{
		Time: decision.Decided.Time, Kind: audit.ApprovalDecided, ChainID: r.ChainID, Session: r.Session, Event: r.Event, Hook: r.HookID,
		Action: "deny", EventID: r.EventID,
		Detail: audit.Decision{
			ApprovalID: r.ID, Prompt: s.options.MaskText(r.Prompt), Option: decision.Option, Granted: decision.Granted, DecidedBy: decision.DecidedBy,
			ClaimedBy: decision.ClaimedBy, Note: s.options.MaskText(decision.Note), TimedOut: decision.TimedOut, Error: s.options.MaskText(decision.Error),
			DataSHA256: r.DataSHA256, ApprovedBy: decision.ApprovedBy, Scope: decision.Scope, Expires: expires, Nonce: nonce,
		},
	}
	if decision.Granted {
		record.Action = "allow"
	}
	return record.Append(nil)
}

// decodeDecision decodes the first message on an approval request in the log. That message is
// the decision: one that can't be decoded, or is about something else, denies.
func decodeDecision(id string, body []byte) storedDecision {
	var d storedDecision
	err := json.Unmarshal(body, &d)
	if err == nil && d.Kind == audit.ApprovalDecided && d.Approval == id {
		d.Decided = d.Time
		return d
	}
	return storedDecision{Decision: approval.Decision{DecidedBy: "error", Error: "the record of the decision can't be read"}}
}
