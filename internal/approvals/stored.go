package approvals

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Stored is an approval request as the bucket holds it.
type Stored struct {
	approval.Record
	// Sent is the digest of the event's data as it was sent: the same event with other
	// data is refused.
	Sent string
	// Arrived is when the event arrived: what ended since does not concern it.
	Arrived time.Time
	// Segment is the number of the audit log's segment that was live when it was stored:
	// where its decision is looked for first. [Service.Ask] sets it.
	Segment int
	// Trace is the traceparent of the event, for the span of the decision; empty for none.
	Trace string
	// Called is how many hooks the event's chain called.
	Called int
	// Verdict is what the agent gets besides the approval and the data: messages to its
	// user, output to hide.
	Verdict verdict.Verdict
}

func (s Stored) append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	w.Raw("question", s.Record.Append(nil))
	w.String("sent_sha256", s.Sent)
	w.String("arrived", s.Arrived.UTC().Format(time.RFC3339Nano))
	w.Int("segment", int64(s.Segment))
	w.Text("trace", s.Trace)
	w.Int("called", int64(s.Called))
	w.Raw("verdict", s.Verdict.Append(nil))
	return w.End()
}

func decodeStored(e natsx.Entry) (*Stored, error) {
	var raw struct {
		Record  approval.Record `json:"question"`
		Sent    string          `json:"sent_sha256"`
		Arrived time.Time       `json:"arrived"`
		Segment int             `json:"segment"`
		Trace   string          `json:"trace"`
		Called  int             `json:"called"`
		Verdict verdict.Verdict `json:"verdict"`
	}
	if err := json.Unmarshal(e.Value, &raw); err != nil {
		return nil, fmt.Errorf("decode approval request %s: %w", e.Key, err)
	}
	return &Stored{raw.Record, raw.Sent, raw.Arrived, raw.Segment, raw.Trace, raw.Called, raw.Verdict}, nil
}

func (s *Stored) segment() int { return max(s.Segment, 1) }

// keptAfter is how long an approval request and its decision are kept after the deadline.
const keptAfter = 24 * time.Hour

// Bucket says how the bucket of approval requests is created.
func Bucket(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_approvals", Description: "questions to people, and the data they are about", Replicas: replicas, LeaderReads: true,
	}
}

// storedDecision is a decision as the audit log holds it.
type storedDecision struct {
	Time approval.Time `json:"time"`
	Kind audit.Kind    `json:"kind"`
	approval.Decision
	Approval string `json:"approval_id"`
	Nonce    string `json:"nonce"` // tells two appends of the same words apart
}

func (s *Service) decisionRecord(r *Stored, decision approval.Decision, nonce string) []byte {
	mask := s.options.MaskText
	if mask == nil {
		mask = func(text string) string { return text }
	}
	record := audit.Record{
		Time: decision.Decided.Time, Kind: audit.ApprovalDecided, ChainID: r.ChainID, Session: r.Session, Event: r.Event, Hook: r.HookID,
		Action: "deny", EventID: r.EventID,
		Detail: audit.Decision{
			ApprovalID: r.ID, Prompt: mask(r.Prompt), Option: decision.Option, Granted: decision.Granted, DecidedBy: decision.DecidedBy,
			ClaimedBy: decision.ClaimedBy, Note: mask(decision.Note), TimedOut: decision.TimedOut, Error: mask(decision.Error),
			DataSHA256: r.DataSHA256, Nonce: nonce,
		},
	}
	if decision.Granted {
		record.Action = "allow"
	}
	return record.Append(nil)
}

// decodeDecision decodes the first message on an approval request in the log. That message
// is the decision, whatever it is: one that can't be decoded, or is about something else,
// denies.
func decodeDecision(id string, body []byte) storedDecision {
	var d storedDecision
	err := json.Unmarshal(body, &d)
	if err == nil && d.Kind == audit.ApprovalDecided && d.Approval == id {
		d.Decided = d.Time
		return d
	}
	return storedDecision{Decision: approval.Decision{DecidedBy: "error", Error: "the record of the decision can't be read"}}
}
