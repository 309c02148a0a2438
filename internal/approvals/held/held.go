// Package held describes an event that waits for a person: the approval request, and what any
// replica needs to answer the event's agent after the decision. Dispatch passes it to the
// approvals service, which stores it.
package held

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/internal/shorten"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// Event is an event that waits for a person, with the answer that its agent gets after the
// decision. Once its session has more labels than the request names, the event is not permitted
// again.
type Event struct {
	approval.Record
	// Sent is the digest of the event's data as it was sent. The same event with other data is
	// refused.
	Sent string
	// Arrived is when the event arrived. A session end before that does not affect it.
	Arrived time.Time
	// Segment is the number of the audit log segment that was live when the request was stored.
	// The search for its decision starts there. The approvals service sets it.
	Segment int
	// Epoch is the session's epoch when the request was stored. In another epoch the event is
	// not permitted again.
	Epoch int
	// Trace is the traceparent of the event, for the span of the decision; empty for none.
	Trace string
	// Unlabel are labels that the session loses if a person allows the event.
	Unlabel []string
	// AskedAt is when a person was asked to remove the labels; zero without Unlabel. Labels that
	// the session gets after that stay.
	AskedAt time.Time
	// AddedLabels are the labels that the event's hooks added, each with the first hook that did. The
	// session gets them again before the event is permitted: a person may have removed them while
	// it waited.
	AddedLabels map[string]string
	// Content is the digest of what else an "Allow always" covers, besides the hook and the prompt;
	// empty if there is nothing else.
	Content string
	// Root is the root of the session's tree, which may be the session itself.
	Root string
	// Questions are those of the single hooks, if the request asks for several.
	Questions []approval.Question
	// Called is the number of hooks that the event's chain called.
	Called int
	// Verdict is the agent's answer apart from the approval and the data: messages to its user,
	// output to hide.
	Verdict verdict.Verdict
}

// Append appends the event to buf as JSON, its stored form. Data stays byte for byte.
func (s *Event) Append(buf []byte) []byte {
	w := events.NewObjectWriter(buf)
	w.Raw("question", s.Record.Append(nil))
	w.String("sent_sha256", s.Sent)
	w.String("arrived", s.Arrived.UTC().Format(time.RFC3339Nano))
	w.Int("segment", int64(s.Segment))
	w.Int("epoch", int64(s.Epoch))
	w.Text("trace", s.Trace)
	if len(s.Unlabel) > 0 {
		w.Texts("unlabel", s.Unlabel)
		w.String("unlabel_asked", s.AskedAt.UTC().Format(time.RFC3339Nano))
	}
	if len(s.AddedLabels) > 0 {
		adds := events.NewObjectWriter(nil)
		for _, label := range slices.Sorted(maps.Keys(s.AddedLabels)) {
			adds.String(label, s.AddedLabels[label])
		}
		w.Raw("added_labels", adds.End())
	}
	w.Text("content_sha256", s.Content)
	w.Text("root", s.Root)
	if len(s.Questions) > 0 {
		w.Objects("questions", len(s.Questions), func(i int, w *events.ObjectWriter) {
			w.String("hook", s.Questions[i].Hook)
			w.String("prompt", s.Questions[i].Prompt)
		})
	}
	w.Int("called", int64(s.Called))
	w.Raw("verdict", s.Verdict.Append(nil))
	return w.End()
}

// Decode reads the form that [Event.Append] writes.
func Decode(text []byte) (*Event, error) {
	var raw struct {
		Record  approval.Record `json:"question"`
		Sent    string          `json:"sent_sha256"`
		Arrived time.Time       `json:"arrived"`
		Segment int             `json:"segment"`
		Epoch   int             `json:"epoch"`
		Trace   string          `json:"trace"`
		Labels  []string        `json:"labels"` // in requests of older routers
		Unlabel []string        `json:"unlabel"`
		AskedAt time.Time       `json:"unlabel_asked"`
		Content string          `json:"content_sha256"`
		Root    string          `json:"root"`
		Called  int             `json:"called"`
		Verdict verdict.Verdict `json:"verdict"`

		AddedLabels map[string]string   `json:"added_labels"`
		Questions   []approval.Question `json:"questions"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("decode held event: %w", err)
	}
	if raw.Record.Labels == nil {
		raw.Record.Labels = raw.Labels
	}
	return &Event{raw.Record, raw.Sent, raw.Arrived, raw.Segment, raw.Epoch, raw.Trace, raw.Unlabel, raw.AskedAt, raw.AddedLabels, raw.Content, raw.Root, raw.Questions, raw.Called, raw.Verdict}, nil
}

// FirstSegment returns the number of the segment where the search for the decision starts.
func (s *Event) FirstSegment() int { return max(s.Segment, 1) }

// Unknown returns the error for an id without an approval request, or with one that the sender must
// not know of.
func Unknown(id string) error {
	return wire.Errorf(wire.NotFound, "there is no approval request %q: it never existed, or it was decided more than a day ago", shorten.Bytes(id, 64, "..."))
}
