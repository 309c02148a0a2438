package celhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

type rule struct {
	when   *match.Program // nil means always
	answer answer
	labels []string

	userMessage template
	level       chain.Level
}

// Build builds a hook from a section of a worker file.
func Build(s kind.Section, c Config) (kind.Hook, error) {
	handler, warnings, err := build(c)
	if s.Registration != nil && s.Registration.Effect == chain.Validates {
		err = errors.Join(err, checkValidates(c))
	}
	if s.Registration != nil && s.Registration.Observes() {
		warnings = append(warnings, lateWarnings(s.Registration.Mode, c.Rules)...)
	}
	if s.FailsOpen() {
		warnings = append(warnings, openWarnings(c.Rules)...)
	}
	return kind.Hook{Handler: handler, Warnings: warnings}, err
}

// checkValidates rejects the rules that a hook with effect: validate can't have.
func checkValidates(c Config) error {
	var wrong []error
	for i, r := range c.Rules {
		if r.Modify != nil {
			at := jsontext.Pointer("/rules").AppendToken(fmt.Sprint(i)) + "/modify"
			wrong = append(wrong, kind.At(at, "a hook with effect: validate can't modify the data: remove one of the two"))
		}
	}
	return errors.Join(wrong...)
}

func build(c Config) (handler kind.Handler, warnings []error, err error) {
	if len(c.Rules) == 0 {
		return nil, nil, kind.At("/rules", "a cel hook needs at least one rule")
	}
	rules := make([]rule, len(c.Rules))
	var wrong []error
	for i, r := range c.Rules {
		at := jsontext.Pointer("/rules").AppendToken(fmt.Sprint(i))
		var err error
		rules[i], err = compile(at, r)
		wrong = append(wrong, err)
		warnings = append(warnings, ConditionWarnings(at+"/when", string(r.When), rules[i].when)...)
		warnings = append(warnings, keyWarnings(at+"/ask/key", r.Ask)...)
		if r.When == "" && i < len(c.Rules)-1 {
			wrong = append(wrong, kind.At(at, "this rule has no when and so always holds: those after it are never reached"))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		return decide(ctx, rules, ev)
	}, warnings, nil
}

// decide returns the answer of the first rule that holds.
func decide(ctx context.Context, rules []rule, ev events.Event) (chain.Result, error) {
	in := match.NewInput(ev.Name, ev.Session, ev.Data).With(ev.Extensions).At(kind.Now(ctx))
	for i, r := range rules {
		if err := ctx.Err(); err != nil {
			return chain.Result{}, fmt.Errorf("cel.rules[%d]: %w", i, err)
		}
		if r.when != nil {
			holds, err := r.when.Eval(in)
			if err != nil {
				kind.Decided(ctx, "rules", i)
				return chain.Result{}, fmt.Errorf("cel.rules[%d].when: %w", i, explain(err))
			}
			if !holds {
				continue
			}
		}
		kind.Decided(ctx, "rules", i)
		result, err := r.result(in, ev.Data)
		if err != nil {
			return chain.Result{}, fmt.Errorf("cel.rules[%d].%w", i, err)
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
	result.UserMessageLevel, result.Labels = r.level, r.labels
	if result.UserMessage, err = r.userMessage.render(in); err != nil {
		return chain.Result{}, fmt.Errorf("user_message: %w", err)
	}
	return result, nil
}

// compile checks and compiles one rule; at is its place in the configuration. It returns all errors
// of the rule.
func compile(at jsontext.Pointer, r Rule) (compiled rule, err error) {
	var wrong [5]error
	if r.When != "" {
		if compiled.when, err = match.InRule.Compile(string(r.When)); err != nil {
			wrong[0] = positioned(at+"/when", err)
		}
	}
	switch r.UserMessageLevel {
	case "", chain.LevelInfo, chain.LevelWarning, chain.LevelError:
		compiled.level = r.UserMessageLevel
	default:
		wrong[1] = kind.At(at+"/user_message_level", `must be "info", "warning" or "error", not %q`, r.UserMessageLevel)
	}
	if compiled.userMessage, err = parseTemplate(r.UserMessage); err != nil {
		wrong[2] = positioned(at+"/user_message", err)
	}
	compiled.answer, wrong[3] = compileAnswer(at, r)
	if err := events.CheckLabels(r.Labels); err != nil {
		wrong[4] = kind.At(at+"/labels", "%w", err)
	}
	compiled.labels = r.Labels
	return compiled, errors.Join(wrong[:]...)
}

// positioned converts an error of a template or an expression to a field error.
func positioned(at jsontext.Pointer, err error) *kind.FieldError {
	if m, ok := errors.AsType[*match.Error](err); ok {
		return &kind.FieldError{Pointer: at, Line: m.Line, Column: m.Column, Err: errors.New(m.Message)}
	}
	return &kind.FieldError{Pointer: at, Err: err}
}
