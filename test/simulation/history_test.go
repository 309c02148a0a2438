package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// history is what happened in a run, as the store has it and as everyone saw it.
type history struct {
	records   []record // the decisions in the stream's order
	questions map[string]approval.Request

	mu       sync.Mutex // guards what follows
	tellings []telling
	answers  []answer
	lives    []span      // when a router served without harm
	harms    []time.Time // when a router was harmed

	impostors []string // who sent an event again with other data and was not refused
}

// record is a decision as the audit stream has it.
type record struct {
	approval.Decision
	Time       approval.Time `json:"time"`
	Subject    string        // its last token
	Approval   string        `json:"approval_id"`
	Session    string        `json:"session_id"`
	Hook       string        `json:"hook"`
	Prompt     string        `json:"prompt"`
	DataSHA256 string        `json:"data_sha256"`
}

// telling is what an agent was told about one event.
type telling struct {
	id              string // of the event's approval request, where it has one
	session, prompt string
	began, told     time.Time
	sdk             bool      // pkg/agent asked, and not the test itself
	pending         time.Time // when it knew that there is an approval request; zero where it never did
	verdict         verdict.Verdict
	err             error // there is no verdict
}

// answer is what a person said to an approval request, and heard.
type answer struct {
	id   string
	kind kind
	said approval.Answer
	code int    // of the refusal; 0 where it was accepted, silence where nothing came back
	text string // of the refusal, or the option that was accepted
}

// silence is the code of an answer that nobody replied to: it may have decided.
const silence = -1

// kind is how an answer is meant.
type kind string

// The kinds of answers.
const (
	plain      kind = "offered"
	freeText   kind = "free text"
	failed     kind = "an error"
	notOffered kind = "not offered"   // may decide nothing
	otherData  kind = "to other data" // may decide nothing
)

// span is a time from and to.
type span struct{ from, to time.Time }

func (h *history) told(t telling) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tellings = append(h.tellings, t)
}

func (h *history) answered(a answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = append(h.answers, a)
}

func (h *history) impostor(passed string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if passed != "" {
		h.impostors = append(h.impostors, passed)
	}
}

func (h *history) lived(from, to time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lives = append(h.lives, span{from, to})
}

func (h *history) disturbed(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.harms = append(h.harms, at)
}

// read reads what the store holds: every approval request, and every decision.
func (h *history) read(ctx context.Context, nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	h.records, h.questions = nil, map[string]approval.Request{}
	err = drain(ctx, js, "KV_hooks_approvals", ">", func(m jetstream.Msg) error {
		var stored struct{ Question approval.Request }
		if err := json.Unmarshal(m.Data(), &stored); err != nil {
			return err
		}
		h.questions[stored.Question.ID] = stored.Question
		return nil
	})
	if err != nil {
		return err
	}
	return drain(ctx, js, "HOOKS_AUDIT", "hooks.audit.decision.>", func(m jetstream.Msg) error {
		for line := range bytes.Lines(m.Data()) {
			r := record{Subject: path.Ext(m.Subject())[1:]}
			if err := json.Unmarshal(line, &r); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
			r.Decided = r.Time
			h.records = append(h.records, r)
		}
		return nil
	})
}

// drain gives all messages that a stream holds on a subject.
func drain(ctx context.Context, js jetstream.JetStream, stream, subject string, take func(jetstream.Msg) error) error {
	consumer, err := js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject}})
	if err != nil {
		return err
	}
	info, err := consumer.Info(ctx)
	if err != nil || info.NumPending == 0 {
		return err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for range info.NumPending {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		if err := take(m); err != nil {
			return err
		}
	}
	return nil
}
