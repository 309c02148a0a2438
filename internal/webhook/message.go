package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// The kinds of messages.
const (
	Required = "approval:required"    // a person is being asked
	Reviewed = approval.EventReviewed // somebody answered, and others must answer too
	Resolved = "approval:resolved"    // the approval request was decided
)

const (
	// maxBody is the maximum size of a request, in bytes. It limits the memory of queues.
	maxBody = 64 << 10
	// maxText is the maximum length of a prompt and a note, in characters. Notifications should be
	// short; the approval request has the full text.
	maxText = 2000
)

// message is a queued request, identical for all receivers.
type message struct {
	kind, id string
	agent    string // the proven sender of the event; empty if there is none
	body     []byte
	about    trace.SpanContext // the related span; not valid if there is none
}

// newMessage encodes a request. The id is a digest of the content, so that all routers give it the
// same id.
func newMessage(kind string, about []byte) (message, error) {
	m := message{kind: kind, id: approval.Digest(append([]byte(kind+"\n"), about...))[:32]}
	var err error
	m.body, err = json.Marshal(struct {
		Type     string          `json:"type"`
		ID       string          `json:"id"`
		Time     approval.Time   `json:"time"`
		Approval json.RawMessage `json:"approval"`
	}{kind, m.id, approval.At(time.Now()), about})
	if err == nil && len(m.body) > maxBody {
		err = fmt.Errorf("it has %d bytes: at most %d are sent", len(m.body), maxBody)
	}
	return m, err
}

// Notify queues a message for every receiver of [Options.URLs] about an approval request that was
// made, reviewed or decided. It never blocks: messages beyond a receiver's queue are dropped. The
// span in ctx is sent as W3C trace context. Long prompts and notes are truncated. After Run has
// ended, messages are not sent.
func (s *Sender) Notify(ctx context.Context, n approval.Notice) {
	if n.Lost {
		s.log.Warn("webhooks lost; router too slow to follow approvals")
	}
	if len(s.receivers) == 0 {
		return
	}
	kind := Required
	if len(n.Request.Reviews) > 0 {
		kind = Reviewed
	}
	if m, ok := s.encode(ctx, kind, n); ok {
		for _, r := range s.receivers {
			r.offer(m)
		}
	}
}

// encode encodes the message about a notice. kind applies unless the notice has a decision. ok is
// false if encoding fails, which is logged.
func (s *Sender) encode(ctx context.Context, kind string, n approval.Notice) (m message, ok bool) {
	news := struct {
		approval.Request
		Agent string `json:"agent,omitempty"` // proven
		Links []link `json:"links,omitempty"`
		*approval.Decision
	}{Request: n.Request, Agent: n.Emitter}
	news.Prompt = cut(news.Prompt)
	news.Reviews = slices.Clone(news.Reviews)
	for i := range news.Reviews {
		news.Reviews[i].Note = cut(news.Reviews[i].Note)
	}
	if n.Decision == nil {
		news.Links = s.linksOf(n.Request)
	} else {
		decision := *n.Decision
		decision.Note, decision.Error = cut(decision.Note), cut(decision.Error)
		kind, news.Decision = Resolved, &decision
	}
	body, err := json.Marshal(news)
	if err == nil {
		m, err = newMessage(kind, body)
	}
	if err != nil {
		s.counts.dropped.Add(uint64(len(s.receivers)))
		s.log.Error("webhook not encoded", "type", kind, "error", err)
		return m, false
	}
	m.agent, m.about = n.Emitter, trace.SpanContextFromContext(ctx)
	return m, true
}

// link is a URL that answers an approval request with one option.
type link struct {
	Option string `json:"option"`
	URL    string `json:"url"`
}

func (s *Sender) linksOf(q approval.Request) []link {
	if s.console == "" {
		return nil
	}
	var links []link
	for i, option := range q.Options {
		if q.Needs == nil || !approval.Grants(option) { // the user of a link is unproven
			links = append(links, link{option, s.links.URL(s.console, q, i)})
		}
	}
	return links
}

// cut makes invisible characters visible, and removes the middle of a text of more than maxText
// characters: guards give their reason at the end.
func cut(text string) string {
	runes := []rune(approval.Visible(text))
	if len(runes) <= maxText {
		return string(runes)
	}
	return string(runes[:maxText*3/4]) + "...[truncated]..." + string(runes[len(runes)-maxText/4:])
}
