// Package held describes an event that waits for a person: the approval request, and what
// is needed to answer the event's agent from any replica once it is decided. It is what
// dispatch hands to the approvals service, and what that one stores.
package held

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Event is an event that waits for a person, with what its agent gets once the
// approval request is decided.
type Event struct {
	approval.Record
	// Sent is the digest of the event's data as it was sent: the same event with other
	// data is refused.
	Sent string
	// Arrived is when the event arrived: what ended since does not concern it.
	Arrived time.Time
	// Segment is the number of the audit log's segment that was live when it was stored:
	// where its decision is looked for first. The approvals service sets it.
	Segment int
	// Epoch is that of its session when the request was stored: once the session has
	// another, the event gets its permission no second time.
	Epoch int
	// Trace is the traceparent of the event, for the span of the decision; empty for none.
	Trace string
	// Labels are what its session had seen when the request was stored: once it has seen
	// more, the event gets its permission no second time.
	Labels []string
	// Unlabel are labels that the session loses where a person allows it.
	Unlabel []string
	// Content is the digest of what else an "Allow always" is for, besides the hook and
	// the prompt; empty where these are all.
	Content string
	// Root is the session at the root of its session's tree, which may be its own.
	Root string
	// Called is how many hooks the event's chain called.
	Called int
	// Verdict is what the agent gets besides the approval and the data: messages to its
	// user, output to hide.
	Verdict verdict.Verdict
}

// Append appends the event to buf as JSON, the form in which it is stored. Data stays
// byte for byte.
func (s *Event) Append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	w.Raw("question", s.Record.Append(nil))
	w.String("sent_sha256", s.Sent)
	w.String("arrived", s.Arrived.UTC().Format(time.RFC3339Nano))
	w.Int("segment", int64(s.Segment))
	w.Int("epoch", int64(s.Epoch))
	w.Text("trace", s.Trace)
	if len(s.Labels) > 0 {
		w.Texts("labels", s.Labels)
	}
	if len(s.Unlabel) > 0 {
		w.Texts("unlabel", s.Unlabel)
	}
	w.Text("content_sha256", s.Content)
	w.Text("root", s.Root)
	w.Int("called", int64(s.Called))
	w.Raw("verdict", s.Verdict.Append(nil))
	return w.End()
}

// Decode reads what [Event.Append] wrote.
func Decode(text []byte) (*Event, error) {
	var raw struct {
		Record  approval.Record `json:"question"`
		Sent    string          `json:"sent_sha256"`
		Arrived time.Time       `json:"arrived"`
		Segment int             `json:"segment"`
		Epoch   int             `json:"epoch"`
		Trace   string          `json:"trace"`
		Labels  []string        `json:"labels"`
		Unlabel []string        `json:"unlabel"`
		Content string          `json:"content_sha256"`
		Root    string          `json:"root"`
		Called  int             `json:"called"`
		Verdict verdict.Verdict `json:"verdict"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("decode held event: %w", err)
	}
	return &Event{raw.Record, raw.Sent, raw.Arrived, raw.Segment, raw.Epoch, raw.Trace, raw.Labels, raw.Unlabel, raw.Content, raw.Root, raw.Called, raw.Verdict}, nil
}

// FirstSegment is where its decision is looked for first.
func (s *Event) FirstSegment() int { return max(s.Segment, 1) }

// Unknown is the error where there is no approval request with an id, or none that whoever
// asks may know of.
func Unknown(id string) error {
	if len(id) > 64 {
		id = id[:64] + "..."
	}
	return wire.Errorf(wire.NotFound, "there is no approval request %q: it never was, or it was decided more than a day ago", id)
}
