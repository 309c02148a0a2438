package approvals

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/pkg/approval"
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
	w.Int("called", int64(s.Called))
	w.Raw("verdict", s.Verdict.Append(nil))
	return w.End()
}

func decodeStored(e bus.Entry) (*Stored, error) {
	var raw struct {
		Question approval.Record `json:"question"`
		Sent     string          `json:"sent_sha256"`
		Arrived  time.Time       `json:"arrived"`
		Called   int             `json:"called"`
		Verdict  verdict.Verdict `json:"verdict"`
	}
	if err := json.Unmarshal(e.Value, &raw); err != nil {
		return nil, fmt.Errorf("read question %s: %w", e.Key, err)
	}
	return &Stored{raw.Question, raw.Sent, raw.Arrived, raw.Called, raw.Verdict}, nil
}

// keptAfter is how long a question and its answer are kept after the deadline.
const keptAfter = 24 * time.Hour

// Bucket says how the bucket of questions is made.
func Bucket(prefix string, replicas int) bus.BucketOptions {
	return bus.BucketOptions{
		Name: prefix + "_approvals", Description: "questions to people, and the data they are about", Replicas: replicas, Fresh: true,
	}
}

// decisionLine is a decision as the audit stream holds it, on one line.
type decisionLine struct {
	Time    approval.Time `json:"time"`
	Kind    string        `json:"kind"`
	ChainID string        `json:"chain_id"`
	Session string        `json:"session_id"`
	Event   string        `json:"event"`
	Hook    string        `json:"hook"`
	Action  string        `json:"action"` // allow or deny
	approval.Decision
	Approval   string `json:"approval_id"`
	EventID    string `json:"event_id"`
	Prompt     string `json:"prompt"`
	DataSHA256 string `json:"data_sha256"`
	Nonce      string `json:"nonce"` // tells two appends of the same words apart
}

func decisionRecord(s *Stored, d approval.Decision, nonce string) []byte {
	line := decisionLine{
		Time: d.Decided, Kind: decided, ChainID: s.ChainID, Session: s.Session, Event: s.Event, Hook: s.Hook, Action: "deny",
		Decision: d, Approval: s.ID, EventID: s.EventID, Prompt: s.Prompt, DataSHA256: s.DataSHA256, Nonce: nonce,
	}
	if d.Granted {
		line.Action = "allow"
	}
	body, _ := json.Marshal(line) // texts, times and booleans
	return append(body, '\n')
}

// decodeDecision reads what the stream holds about a question. The first message
// there is the decision, whatever it is: one that can't be read, or is about
// something else, denies.
func decodeDecision(id string, body []byte) decisionLine {
	var line decisionLine
	err := json.Unmarshal(body, &line)
	if err == nil && line.Kind == decided && line.Approval == id {
		return line
	}
	return decisionLine{Decision: approval.Decision{DecidedBy: "error", Error: "the record of the decision can't be read"}}
}

// decided is the kind of the record of a decision.
const decided = "approval.decided"
