package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// watchBuffer is how many messages may be queued for output. Further ones are lost, and watch
// reports that.
const watchBuffer = 4096

// WatchCmd is `hookctl watch`.
type WatchCmd struct {
	Pattern string `arg:"" optional:"" default:"*" help:"Events to show: a name, tool:*, or * for all."`
	Session string `placeholder:"ID" help:"Only events of this session."`
}

// Help describes the output.
func (c *WatchCmd) Help() string {
	return "Secrets are masked, as in the console. With --json each line is what was published; the router's --publish-data says whether that is masked."
}

// Run watches until ctx ends.
func (c *WatchCmd) Run(ctx context.Context, e *cli.Env) error {
	if err := events.CheckPattern(c.Pattern); err != nil {
		return err
	}
	e.CheckSpelling(c.Pattern)
	b, err := e.Connect()
	if err != nil {
		return err
	}
	messages := make(chan *nats.Msg, watchBuffer) // a single channel keeps the order of arrival
	for _, subject := range c.subjects(b.Subjects) {
		if _, err := b.Conn().ChanSubscribe(subject, messages); err != nil {
			return fmt.Errorf("watch %s: %w", subject, err)
		}
	}
	if err := b.Conn().FlushTimeout(5 * time.Second); err != nil {
		return cli.Disconnected(fmt.Errorf("watch %s: %w", c.Pattern, err))
	}
	fmt.Fprintf(e.Stderr, "watching %s with prefix %s; Ctrl-C ends\n", c.Pattern, b.Prefix())
	for {
		select {
		case <-ctx.Done():
			return cli.StopCause(ctx)
		case msg := <-messages:
			if s := c.read(b.Subjects, msg); s != nil {
				showSight(e.Out, s)
			}
		}
		if err := e.Out.Failure(); err != nil {
			return err
		}
	}
}

// subjects returns the subjects to subscribe to. The subjects of a pattern would miss aliases of
// its events, so watch subscribes to all events and read checks the name.
func (c *WatchCmd) subjects(s events.Subjects) (list []string) {
	if strings.HasSuffix(c.Pattern, "*") {
		return []string{s.Of("event", ">"), s.Of("result", ">")}
	}
	for _, name := range events.Spellings(c.Pattern) {
		list = append(list, s.Event("event", name), s.Event("result", name))
	}
	return list
}

// sight is one line of watch: an event, or the result of an event.
type sight struct {
	Kind    string          `json:"kind"` // event, result, or unreadable
	Event   string          `json:"event"`
	Session string          `json:"session_id,omitempty"`
	EventID string          `json:"event_id,omitempty"`
	ChainID string          `json:"chain_id,omitempty"`
	Source  string          `json:"source,omitempty"`
	Time    string          `json:"time,omitempty"` // of the event
	Data    json.RawMessage `json:"data,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"` // as it was published
	Error   string          `json:"error,omitempty"`  // why it is unreadable

	result resultBody
}

// resultBody is the part of a result that is shown in text output.
type resultBody struct {
	ChainID    string `json:"chain_id"`
	EventID    string `json:"event_id"`
	SessionID  string `json:"session_id"`
	Action     string `json:"action"`
	Reason     string `json:"reason"`
	DeniedBy   string `json:"denied_by"`
	ApprovalID string `json:"approval_id"`
	Hooks      []struct {
		ID         string `json:"id"`
		Action     string `json:"action"`
		Micros     int64  `json:"us"`
		Failure    string `json:"failure"`
		FailedOpen bool   `json:"failed_open"`
	} `json:"hooks"`
}

// read converts a message to a sight. It returns nil if the message was not requested.
func (c *WatchCmd) read(s events.Subjects, msg *nats.Msg) *sight {
	seen := &sight{Kind: "event"}
	tail := s.Tail("event", msg.Subject)
	if tail == "" {
		seen.Kind, tail = "result", s.Tail("result", msg.Subject)
	}
	seen.Event = strings.ReplaceAll(tail, ".", ":")
	if !events.Match(c.Pattern, seen.Event) {
		return nil
	}
	seen.ChainID = wire.Get(msg.Header, wire.HeaderChainID)
	var err error
	if seen.Kind == "event" {
		err = seen.readEvent(msg)
	} else {
		err = seen.readResult(msg)
	}
	if err != nil {
		*seen = sight{Kind: "unreadable", Event: seen.Event, Error: err.Error()}
	}
	if c.Session != "" && seen.Session != c.Session {
		return nil
	}
	return seen
}

func (s *sight) readEvent(msg *nats.Msg) error {
	ev, _, err := events.Decode(s.Event, msg.Header, msg.Data)
	s.Session, s.EventID, s.Source, s.Time, s.Data = ev.Session, ev.ID, ev.Source, ev.Time, ev.Data
	return err
}

func (s *sight) readResult(msg *nats.Msg) error {
	if !utf8.Valid(msg.Data) {
		return errors.New("read result: it is not UTF-8")
	}
	if err := json.Unmarshal(msg.Data, &s.result); err != nil {
		return fmt.Errorf("read result: %w", err)
	}
	r := s.result
	s.Session, s.EventID, s.ChainID, s.Result = r.SessionID, r.EventID, r.ChainID, msg.Data
	return nil
}
