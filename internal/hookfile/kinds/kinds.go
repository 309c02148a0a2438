package kinds

import (
	"errors"

	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/celkind"
	"github.com/hookrouter/hookrouter/internal/hookfile/execkind"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/match"
)

// All are the options with every kind, for a file in directory dir: that is where
// commands and directories of the file are found from.
func All(dir string) hookfile.Options {
	return hookfile.Options{
		CheckMatch: checkMatch,
		Kinds: map[string]hookfile.Kind{
			"cel": hookfile.KindOf(celkind.New),
			"exec": hookfile.KindOf(func(c execkind.Config) (hookfile.Handler, error) {
				c.Base = dir
				return execkind.New(c)
			}),
		},
	}
}

func checkMatch(expr string) error {
	_, err := match.Compile(expr)
	if wrong, ok := errors.AsType[*match.Error](err); ok {
		return &kind.FieldError{Line: wrong.Line, Column: wrong.Column, Err: errors.New(wrong.Message)}
	}
	return err
}
