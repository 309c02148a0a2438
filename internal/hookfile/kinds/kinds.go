package kinds

import (
	"errors"
	"log/slog"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/builtinkind"
	"github.com/hookrouter/hookrouter/internal/hookfile/celkind"
	"github.com/hookrouter/hookrouter/internal/hookfile/execkind"
	"github.com/hookrouter/hookrouter/internal/hookfile/httpkind"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/hookfile/regokind"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/pkg/match"
)

// All are the options with every kind, for the hooks of one worker.
func All(w kind.Worker) hookfile.Options {
	if w.States == nil {
		w.States = &hookstate.Memory{}
	}
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	return hookfile.Options{
		Worker:     w,
		CheckMatch: checkMatch,
		Kinds: map[string]kind.Kind{
			"builtin": builtinkind.New(all.Builtins()),
			"cel":     kind.Of("Rules in CEL, the first that holds answers.", celkind.Build),
			"exec":    kind.Of("A command that reads the event and prints a result.", execkind.Build),
			"http":    kind.Of("An endpoint that gets the event as a CloudEvent and answers a result.", httpkind.New),
			"rego":    kind.Of("Policies in the language of Open Policy Agent.", regokind.New),
		},
	}
}

func checkMatch(expr string) (doubts []error, err error) {
	program, err := match.Compile(expr)
	if wrong, ok := errors.AsType[*match.Error](err); ok {
		return nil, &kind.FieldError{Line: wrong.Line, Column: wrong.Column, Err: errors.New(wrong.Message)}
	}
	if err != nil {
		return nil, err
	}
	return celkind.Doubts("", expr, program), nil
}
