package builtin

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// StateOf returns the states of sessions for the hook of a section, stored under "<builtin>.<hook
// id>".
func StateOf[T any](s kind.Section, builtin string) hookstate.Sessions[T] {
	id := ""
	if s.Registration != nil {
		id = s.Registration.ID
	}
	return hookstate.Of[T](s.Worker.States, builtin+"."+cmp.Or(id, builtin))
}

// LogOf returns the worker's log, or one that discards everything if there is none.
func LogOf(s kind.Section) *slog.Logger {
	if s.Worker.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Worker.Log
}

// Owner returns the key of the event's session in a hook's state; empty without a session. Each
// identity has its own sessions: another agent that chooses the same session id can neither read
// nor change the state.
func Owner(ev events.Event) string {
	if ev.Session == "" {
		return ""
	}
	return ev.Extensions[events.AttrEmitter] + "\n" + ev.Session
}

// Forget deletes the state of a session that ended. An error of the store is only logged: the end
// of a session can't be refused, and the store expires old states.
func Forget[T any](ctx context.Context, states hookstate.Sessions[T], log *slog.Logger, ev events.Event) {
	if err := states.Forget(ctx, Owner(ev)); err != nil {
		log.Warn("state of an ended session not deleted; it expires within a day", "session_id", ev.Session, "error", err)
	}
}

// PerSession returns a handler that deletes the session's state on session:end, and calls handle
// for all other events.
func PerSession[T any](states hookstate.Sessions[T], log *slog.Logger, handle kind.Handler) kind.Handler {
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		if events.Canonical(ev.Name) == events.SessionEnd {
			Forget(ctx, states, log, ev)
			return chain.Result{}, nil
		}
		return handle(ctx, ev)
	}
}

// Line joins the lines of a text and cuts the result to limit characters.
func Line(text string, limit int) string {
	runes := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }), " "))
	if len(runes) > limit {
		return strings.TrimRight(string(runes[:limit-1]), " ") + "…"
	}
	return string(runes)
}

// Failed reports whether the data of an event says that its tool failed.
func Failed(data events.Object) bool {
	success, _ := data.Get("success")
	return success.Kind() == 'f'
}
