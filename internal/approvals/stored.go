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

// Stored is a question as the bucket holds it.
type Stored struct {
	approval.Record
	// Sent is the digest of the event's data as it was sent: the same event with
	// other data is refused.
	Sent string
	// Arrived is when the event came: what ended since is not its business.
	Arrived time.Time
	// Segment is the number of the segment of the audit log that was live when it was
	// asked: where its decision is looked for first. [Desk.Ask] sets it.
	Segment int
	// Trace is the traceparent of what asked, so that whoever decides can name it;
	// empty for none.
	Trace string
	// Called is how many hooks the event's chain called.
	Called int
	// Verdict is what the agent gets besides the approval and the data: messages to
	// its user, output to hide.
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
		Question approval.Record `json:"question"`
		Sent     string          `json:"sent_sha256"`
		Arrived  time.Time       `json:"arrived"`
		Segment  int             `json:"segment"`
		Trace    string          `json:"trace"`
		Called   int             `json:"called"`
		Verdict  verdict.Verdict `json:"verdict"`
	}
	if err := json.Unmarshal(e.Value, &raw); err != nil {
		return nil, fmt.Errorf("read question %s: %w", e.Key, err)
	}
	return &Stored{raw.Question, raw.Sent, raw.Arrived, raw.Segment, raw.Trace, raw.Called, raw.Verdict}, nil
}

func (s *Stored) segment() int { return max(s.Segment, 1) }

// keptAfter is how long a question and its answer are kept after the deadline.
const keptAfter = 24 * time.Hour

// Bucket says how the bucket of questions is made.
func Bucket(prefix string, replicas int) natsx.BucketOptions {
	return natsx.BucketOptions{
		Name: prefix + "_approvals", Description: "questions to people, and the data they are about", Replicas: replicas, LeaderReads: true,
	}
}

// decisionLine is a decision as the audit log holds it.
type decisionLine struct {
	Time approval.Time `json:"time"`
	Kind audit.Kind    `json:"kind"`
	approval.Decision
	Approval string `json:"approval_id"`
	Nonce    string `json:"nonce"` // tells two appends of the same words apart
}

func (d *Service) decisionRecord(s *Stored, decision approval.Decision, nonce string) []byte {
	mask := d.MaskText
	if mask == nil {
		mask = func(text string) string { return text }
	}
	record := audit.Record{
		Time: decision.Decided.Time, Kind: audit.ApprovalDecided, ChainID: s.ChainID, Session: s.Session, Event: s.Event, Hook: s.HookID,
		Action: "deny", EventID: s.EventID,
		Detail: audit.Decision{
			ApprovalID: s.ID, Prompt: mask(s.Prompt), Option: decision.Option, Granted: decision.Granted, DecidedBy: decision.DecidedBy,
			ClaimedBy: decision.ClaimedBy, Note: mask(decision.Note), TimedOut: decision.TimedOut, Error: mask(decision.Error),
			DataSHA256: s.DataSHA256, Nonce: nonce,
		},
	}
	if decision.Granted {
		record.Action = "allow"
	}
	return record.Append(nil)
}

// decodeDecision reads what the log holds about a question. The first message
// there is the decision, whatever it is: one that can't be read, or is about
// something else, denies.
func decodeDecision(id string, body []byte) decisionLine {
	var line decisionLine
	err := json.Unmarshal(body, &line)
	if err == nil && line.Kind == audit.ApprovalDecided && line.Approval == id {
		line.Decided = line.Time
		return line
	}
	return decisionLine{Decision: approval.Decision{DecidedBy: "error", Error: "the record of the decision can't be read"}}
}
