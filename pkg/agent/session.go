package agent

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// maxEphemeral bounds the ephemeral messages that are kept for the next model call.
const maxEphemeral = 256

// SessionOptions configure a session. The zero value is the agent's own session, without delivery
// of messages.
type SessionOptions struct {
	// ID of the session; empty means the agent's session.
	ID string
	// Parent is the session that spawned this one. It gets the injections of agent:complete. Nil
	// means none.
	Parent *Session
	// Context gets the hooks' messages for the model; nil logs and drops them.
	Context ContextManager
	// Merged delivers the injections of one event as one message with the settings of the first, as
	// the specification defines. If false, each keeps its own role and lifetime, as in
	// amplifier-core 2.
	Merged bool
	// Display shows the hooks' messages to the user; nil logs them.
	Display Display
	// Log gets failed deliveries and the router's warnings; nil means the client's log.
	Log *slog.Logger
}

// Session is one session of an agent: it executes events and delivers the hooks' messages. It is
// safe for concurrent use.
type Session struct {
	agent   *Agent
	options SessionOptions // not changed after NewSession

	mu        sync.Mutex // guards ephemeral
	ephemeral []verdict.Message
}

// NewSession makes a session on an agent's connection. It copies the agent's current default
// fields. There is nothing to close; see [Session.End].
func NewSession(a *Agent, o SessionOptions) (*Session, error) {
	o.ID = cmp.Or(o.ID, a.Session())
	o.Log = cmp.Or(o.Log, a.conn.Log).With("session_id", o.ID)
	a.mu.Lock()
	fields := a.fields
	a.mu.Unlock()
	options := a.options
	options.Session = o.ID
	own, err := newAgent(a.conn, options, fields)
	if err != nil {
		return nil, fmt.Errorf("make session %q: %w", o.ID, err)
	}
	return &Session{options: o, agent: own}, nil
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.options.ID }

// Emit is [Agent.Emit] in this session. It delivers no messages.
func (s *Session) Emit(ctx context.Context, event string, data any) (Answer, error) {
	return s.agent.Emit(ctx, event, data)
}

// Execute is [Agent.Execute] in this session. Before it returns, it delivers the verdict's
// messages: to the user through the Display, to the model through the Context, and ephemeral ones
// to the next [Session.NextCall]. Failed deliveries are logged and do not change the verdict. A
// sub-agent executes agent:complete in its own session, and the messages go to the Parent's.
func (s *Session) Execute(ctx context.Context, event string, data any) (Execution, error) {
	x, err := s.agent.Execute(ctx, event, data)
	if err != nil {
		return Execution{}, err
	}
	for _, d := range x.Display {
		s.show(ctx, d)
	}
	to := s
	if event == events.AgentComplete && s.options.Parent != nil {
		to = s.options.Parent
	}
	messages := x.Messages
	if !s.options.Merged {
		messages = x.ContextMessages()
	}
	for _, m := range messages {
		to.deliver(ctx, m)
	}
	for _, w := range x.Warnings {
		s.options.Log.Warn("the router warns of what a hook injected", "event", event, "kind", w.Kind, "hook", w.Hook, "detail", w.Detail)
	}
	return x, nil
}

// NextCall returns the messages for the next model call: those of the Context, followed by the
// hooks' ephemeral ones, which it removes from the session. An ephemeral message that asks for it
// is appended to the last message if that has role tool, after a blank line. If the Context fails,
// the ephemeral messages are kept.
func (s *Session) NextCall(ctx context.Context) ([]Message, error) {
	var messages []Message
	if s.options.Context != nil {
		var err error
		if messages, err = s.options.Context.Messages(ctx); err != nil {
			return nil, fmt.Errorf("read the messages of session %q: %w", s.ID(), err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	messages = withEphemeral(messages, s.ephemeral)
	s.ephemeral = nil
	return messages, nil
}

// NewTurn is [Agent.NewTurn] of this session.
func (s *Session) NewTurn(ctx context.Context) error { return s.agent.NewTurn(ctx) }

// End is [Agent.EndSession] of this session. It drops the remaining ephemeral messages.
func (s *Session) End(ctx context.Context) error {
	s.mu.Lock()
	s.ephemeral = nil
	s.mu.Unlock()
	return s.agent.EndSession(ctx)
}

// deliver adds a hook's message to the model's context.
func (s *Session) deliver(ctx context.Context, m verdict.Message) {
	log := s.options.Log.With("event", m.Metadata.Event, "hook", m.Metadata.HookName, "bytes", len(m.Content))
	if m.Ephemeral {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.ephemeral) == maxEphemeral {
			log.Warn("dropped the oldest ephemeral message: too many wait for a model call", "limit", maxEphemeral)
			s.ephemeral = s.ephemeral[1:]
		}
		s.ephemeral = append(s.ephemeral, m)
		return
	}
	if s.options.Context == nil {
		log.Warn("dropped a hook's message: the session has no context manager")
		return
	}
	if err := s.options.Context.AddMessage(ctx, fromHook(m)); err != nil {
		log.Warn("could not add a hook's message to the context", "error", err)
	}
}

// levels maps message levels to log levels.
var levels = map[chain.Level]slog.Level{chain.LevelWarning: slog.LevelWarn, chain.LevelError: slog.LevelError}

// show shows a hook's message to the user.
func (s *Session) show(ctx context.Context, d verdict.Display) {
	if s.options.Display == nil {
		s.options.Log.Log(ctx, levels[d.Level], "a hook has a message for the user", "source", d.From(), "message", d.Message)
		return
	}
	if err := s.options.Display.Show(ctx, d); err != nil {
		s.options.Log.Warn("could not show a hook's message", "source", d.Source, "error", err)
	}
}
