package celhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Contribute builds a contributor that returns the value of an expression. Of a rule's variables,
// the expression has data.channel and now.
func Contribute(_ kind.Section, expr Source) (kind.Contributor, error) {
	if expr == "" {
		return nil, errors.New("the expression is empty")
	}
	value, err := match.InRule.CompileExpr(string(expr))
	if err != nil {
		return nil, positioned("", err)
	}
	return func(ctx context.Context, channel string) (any, error) {
		asked, err := jsontext.AppendQuote([]byte(`{"channel":`), channel)
		if err != nil {
			return nil, fmt.Errorf("write the channel: %w", err)
		}
		given, err := value.EvalJSON(match.NewInput("contribution:collect", "", append(asked, '}')).At(kind.Now(ctx)))
		if err != nil {
			return nil, explain(err)
		}
		return given, nil
	}, nil
}
