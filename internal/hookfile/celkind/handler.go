package celkind

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/match"
)

// rule is a compiled Rule.
type rule struct {
	when   *match.Program // nil for always
	answer answer

	userMessage template
	level       chain.Level
}

// Build builds a hook from a section of a worker file.
func Build(_ kind.Section, c Config) (kind.Hook, error) {
	handler, err := New(c)
	return kind.Hook{Handler: handler}, err
}

// New compiles the rules. The error is a [*kind.FieldError].
func New(c Config) (kind.Handler, error) {
	if len(c.Rules) == 0 {
		return nil, kind.At("/rules", "a cel hook needs at least one rule")
	}
	rules := make([]rule, len(c.Rules))
	for i, r := range c.Rules {
		at := jsontext.Pointer("/rules").AppendToken(fmt.Sprint(i))
		if i > 0 && c.Rules[i-1].When == "" {
			return nil, kind.At(at, "this rule is never reached: the one before it has no when and so always holds")
		}
		var err error
		if rules[i], err = compile(at, r); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		return decide(ctx, rules, ev)
	}, nil
}

// decide returns the answer of the first rule that holds.
func decide(ctx context.Context, rules []rule, ev events.Event) (chain.Result, error) {
	in := match.NewInput(ev.Name, ev.Session, ev.Data).At(kind.Now(ctx))
	for i, r := range rules {
		if err := ctx.Err(); err != nil {
			return chain.Result{}, fmt.Errorf("evaluate rule %d: %w", i, err)
		}
		if r.when != nil {
			holds, err := r.when.Eval(in)
			if err != nil {
				kind.Decided(ctx, "rules", i)
				return chain.Result{}, fmt.Errorf("evaluate rule %d: when: %w", i, err)
			}
			if !holds {
				continue
			}
		}
		kind.Decided(ctx, "rules", i)
		result, err := r.result(in, ev.Data)
		if err != nil {
			return chain.Result{}, fmt.Errorf("evaluate rule %d: %w", i, err)
		}
		return result, nil
	}
	return chain.Result{}, nil
}

func (r rule) result(in *match.Input, data []byte) (chain.Result, error) {
	result, err := r.answer(in, data)
	if err != nil {
		return chain.Result{}, err
	}
	result.UserMessageLevel = r.level
	if result.UserMessage, err = r.userMessage.render(in); err != nil {
		return chain.Result{}, fmt.Errorf("user_message: %w", err)
	}
	return result, nil
}

// compile checks and compiles one rule; at is its place in the configuration.
func compile(at jsontext.Pointer, r Rule) (compiled rule, err error) {
	if r.When != "" {
		if compiled.when, err = match.InRule.Compile(string(r.When)); err != nil {
			return rule{}, wrong(at+"/when", err)
		}
	}
	switch r.UserMessageLevel {
	case "", chain.LevelInfo, chain.LevelWarning, chain.LevelError:
		compiled.level = r.UserMessageLevel
	default:
		return rule{}, kind.At(at+"/user_message_level", `must be "info", "warning" or "error", not %q`, r.UserMessageLevel)
	}
	if compiled.userMessage, err = parseTemplate(r.UserMessage); err != nil {
		return rule{}, wrong(at+"/user_message", err)
	}
	compiled.answer, err = compileAnswer(at, r)
	return compiled, err
}

// wrong makes a field error of an error of a template or an expression.
func wrong(at jsontext.Pointer, err error) *kind.FieldError {
	if m, ok := errors.AsType[*match.Error](err); ok {
		return &kind.FieldError{Pointer: at, Line: m.Line, Column: m.Column, Err: errors.New(m.Message)}
	}
	return &kind.FieldError{Pointer: at, Err: err}
}
