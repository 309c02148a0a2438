package sessionnaming

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Defaults of [Options], and limits of a session's state.
const (
	DefaultMaxNameLength        = 50
	DefaultMaxDescriptionLength = 200
	DefaultUpdateInterval       = 5

	maxLength  = 1000
	maxPrompts = 5   // prompts that are stored for a command: the first, and the last ones
	maxPrompt  = 500 // characters of a prompt
)

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// MaxNameLength bounds a name, in characters; 0 means [DefaultMaxNameLength].
	MaxNameLength int `json:"max_name_length"`
	// MaxDescriptionLength bounds a description; 0 means [DefaultMaxDescriptionLength].
	MaxDescriptionLength int `json:"max_description_length"`
	// UpdateInterval is after how many prompts the description is made anew, and a
	// command is asked again; 0 means [DefaultUpdateInterval].
	UpdateInterval int `json:"update_interval"`
	// Command names sessions better; nil leaves it with what the prompts say.
	Command *exechook.Config `json:"command"`
	// Private keeps the names from the channel session.metadata, which all who may ask
	// for contributions can read.
	Private bool `json:"private"`
}

// Builtin is session-naming.
var Builtin = builtin.Of("Names sessions by what the user asked for.",
	chain.Registration{
		Events: []string{events.PromptSubmit, events.SessionEnd}, Priority: 50, Mode: chain.Observe, TimeoutMS: 30_000, ReplaySafe: true,
	}, New)

// Session is the state of a session.
type Session struct {
	Session     string   `json:"session_id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Turns       int      `json:"turns"`   // prompts so far
	Prompts     []string `json:"prompts"` // some of them, cut
}

// hook is a configured session-naming hook.
type hook struct {
	Options
	states  hookstate.Sessions[Session]
	command kind.Handler // nil for none
	log     *slog.Logger
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	if err := cmp.Or(
		kind.Range("/max_name_length", &o.MaxNameLength, DefaultMaxNameLength, 1, maxLength),
		kind.Range("/max_description_length", &o.MaxDescriptionLength, DefaultMaxDescriptionLength, 1, maxLength),
		kind.Range("/update_interval", &o.UpdateInterval, DefaultUpdateInterval, 1, maxLength),
	); err != nil {
		return kind.Hook{}, err
	}
	h := hook{Options: o, states: builtin.StateOf[Session](s, "session-naming"), log: builtin.LogOf(s)}
	if o.Command != nil {
		o.Command.Base = s.Worker.Dir
		var err error
		if h.command, err = exechook.New(*o.Command); err != nil {
			return kind.Hook{}, kind.Within("/command", err)
		}
		if s.Registration != nil && !s.Given("replay_safe") { // the default, true, is only for hooks without a command
			s.Registration.ReplaySafe = false
		}
	}
	built := kind.Hook{Handler: builtin.PerSession(h.states, h.log, h.handle), Acts: h.command != nil}
	if !o.Private {
		built.Contributors = map[string]kind.Contributor{builtin.SessionMetadata: builtin.Contribution(h.states, public)}
	}
	return built, nil
}

func public(s Session) any {
	if s.Name == "" {
		return nil
	}
	return map[string]any{"session_id": s.Session, "name": s.Name, "description": s.Description}
}

func (h hook) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	if ev.Session == "" {
		return chain.Result{}, nil
	}
	var d events.PromptSubmitData
	if err := ev.Decode(&d); err != nil {
		return chain.Result{}, err
	}
	var now Session
	due := false
	err := h.states.Update(ctx, builtin.Owner(ev), func(s *Session) bool {
		due = s.take(h.Options, ev.Session, masked(d.Prompt))
		now = *s
		return true
	})
	if err != nil || !due || h.command == nil {
		return chain.Result{}, err
	}
	return chain.Result{}, h.ask(ctx, ev, now)
}

// take adds a prompt to the state, and reports whether a command is due.
func (s *Session) take(o Options, session, prompt string) (due bool) {
	s.Session = session
	s.Turns++
	if s.Prompts = append(s.Prompts, builtin.Line(prompt, maxPrompt)); len(s.Prompts) > maxPrompts {
		s.Prompts = append(s.Prompts[:1], s.Prompts[2:]...)
	}
	due = s.Turns%o.UpdateInterval == 0
	name := nameOf(prompt, o.MaxNameLength)
	switch {
	case name == "":
		return due && s.Name != ""
	case s.Name == "":
		s.Name, s.Description = name, builtin.Line(prompt, o.MaxDescriptionLength)
		return true
	case due:
		s.Description = builtin.Line(s.Name+"; lately: "+nameOf(prompt, o.MaxDescriptionLength), o.MaxDescriptionLength)
	}
	return due
}

// ask runs the command and stores the name that it returns.
func (h hook) ask(ctx context.Context, ev events.Event, s Session) error {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return err
	}
	naming, err := json.Marshal(map[string]any{"name": s.Name, "description": s.Description, "turns": s.Turns, "prompts": s.Prompts})
	if err != nil {
		return fmt.Errorf("ask for a name: %w", err)
	}
	ev.Data = data.With("naming", naming)
	result, err := h.command(ctx, ev)
	if err != nil {
		return fmt.Errorf("ask for a name: %w", err)
	}
	var given struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	if len(result.Data) > 0 {
		if err := json.Unmarshal(result.Data, &given); err != nil {
			return errors.New("read the name that the command gave: name and description must be texts")
		}
	}
	name, description := builtin.Line(masked(given.Name), h.MaxNameLength), builtin.Line(masked(given.Description), h.MaxDescriptionLength)
	if name == "" && description == "" {
		return nil
	}
	return h.states.Update(ctx, builtin.Owner(ev), func(now *Session) bool {
		if now.Session == "" {
			return false // the session ended meanwhile
		}
		now.Name, now.Description = cmp.Or(name, now.Name), cmp.Or(description, now.Description)
		return true
	})
}
