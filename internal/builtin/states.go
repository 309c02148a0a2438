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

// StateOf is what the hook of a section remembers, below "<builtin>.<hook id>".
func StateOf[T any](s kind.Section, builtin string) hookstate.Sessions[T] {
	id := ""
	if s.Registration != nil {
		id = s.Registration.ID
	}
	return hookstate.Of[T](s.Worker.States, builtin+"."+cmp.Or(id, builtin))
}

// LogOf is where a hook tells what happens beside its answers.
func LogOf(s kind.Section) *slog.Logger {
	if s.Worker.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Worker.Log
}

// Owner names the session of an event in a hook's state; empty for none. Each identity has its own
// sessions: another agent that chooses the same id neither reads nor changes what is remembered.
func Owner(ev events.Event) string {
	if ev.Session == "" {
		return ""
	}
	return ev.Extensions[events.AttrEmitter] + "\n" + ev.Session
}

// Forget frees the state of a session that ended. An unavailable store is logged and
// nothing else: its end can't be undone, and the store forgets by age.
func Forget[T any](ctx context.Context, states hookstate.Sessions[T], log *slog.Logger, ev events.Event) {
	if err := states.Forget(ctx, Owner(ev)); err != nil {
		log.Warn("state of an ended session not deleted; it expires within a day", "session_id", ev.Session, "error", err)
	}
}

// PerSession has handle answer the events of a session, and forgets the session at its end.
func PerSession[T any](states hookstate.Sessions[T], log *slog.Logger, handle kind.Handler) kind.Handler {
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		if events.Canonical(ev.Name) == events.SessionEnd {
			Forget(ctx, states, log, ev)
			return chain.Result{}, nil
		}
		return handle(ctx, ev)
	}
}

// Line makes one line of a text, cut at so many characters.
func Line(text string, limit int) string {
	runes := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }), " "))
	if len(runes) > limit {
		return strings.TrimRight(string(runes[:limit-1]), " ") + "…"
	}
	return string(runes)
}

// Failed reports whether the data of an event says that its tool did not do its work.
func Failed(data events.Object) bool {
	success, _ := data.Get("success")
	return success.Kind() == 'f'
}
