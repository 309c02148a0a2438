package celkind

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/match"
)

// rule is a compiled Rule.
type rule struct {
	when   *match.Program // nil for always
	answer func(in *match.Input, data []byte) (chain.Result, error)

	userMessage template
	level       chain.Level
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
	in := match.NewInput(ev.Name, ev.Session, ev.Data)
	for i, r := range rules {
		if err := ctx.Err(); err != nil {
			return chain.Result{}, fmt.Errorf("evaluate rule %d: %w", i, err)
		}
		if r.when != nil {
			holds, err := r.when.Eval(in)
			if err != nil {
				return chain.Result{}, fmt.Errorf("evaluate rule %d: when: %w", i, err)
			}
			if !holds {
				continue
			}
		}
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
		if compiled.when, err = match.Compile(string(r.When)); err != nil {
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

type answer = func(in *match.Input, data []byte) (chain.Result, error)

func compileAnswer(at jsontext.Pointer, r Rule) (answer, error) {
	var given []string
	for name, is := range map[string]bool{"deny": r.Deny != nil, "ask": r.Ask != nil, "inject": r.Inject != nil, "modify": r.Modify != nil} {
		if is {
			given = append(given, name)
		}
	}
	slices.Sort(given)
	switch {
	case len(given) > 1:
		return nil, kind.At(at+jsontext.Pointer("/"+given[1]), "the rule has %s already: a rule has one action", given[0])
	case r.Deny != nil:
		return compileDeny(at+"/deny", *r.Deny)
	case r.Ask != nil:
		return compileAsk(at+"/ask", *r.Ask)
	case r.Inject != nil:
		return compileInject(at+"/inject", *r.Inject)
	case r.Modify != nil:
		return compileModify(at+"/modify", *r.Modify)
	case r.When == "" && r.UserMessage == "":
		return nil, kind.At(at, "the rule is empty: give it deny, ask, inject, modify or user_message")
	}
	return func(*match.Input, []byte) (chain.Result, error) { return chain.Result{}, nil }, nil
}

func compileDeny(at jsontext.Pointer, reason string) (answer, error) {
	text, err := parseTemplate(reason)
	if err != nil {
		return nil, wrong(at, err)
	}
	return func(in *match.Input, _ []byte) (chain.Result, error) {
		reason, err := text.render(in)
		if err != nil {
			return chain.Result{}, fmt.Errorf("deny: %w", err)
		}
		return chain.Denial(reason), nil
	}, nil
}

func compileAsk(at jsontext.Pointer, a Ask) (answer, error) {
	text, err := parseTemplate(a.Prompt)
	if err != nil {
		return nil, wrong(at+"/prompt", err)
	}
	if a.Prompt == "" {
		return nil, kind.At(at, "ask needs a prompt: the question")
	}
	if t := a.Timeout; t != nil && (*t <= 0 || math.IsInf(*t, 0)) {
		return nil, kind.At(at+"/timeout", "must be a number of seconds above 0, not %v", *t)
	}
	switch a.Default {
	case "", chain.Deny, chain.Allow:
	default:
		return nil, kind.At(at+"/default", `must be "deny" or "allow", not %q`, a.Default)
	}
	for i, o := range a.Options {
		if o == "" {
			return nil, kind.At(at+jsontext.Pointer(fmt.Sprintf("/options/%d", i)), "an option is a text that a person can choose")
		}
	}
	return func(in *match.Input, _ []byte) (chain.Result, error) {
		prompt, err := text.render(in)
		if err != nil {
			return chain.Result{}, fmt.Errorf("ask: %w", err)
		}
		result := chain.Question(prompt, a.Options...)
		result.ApprovalTimeout, result.ApprovalDefault = a.Timeout, a.Default
		return result, nil
	}, nil
}

func compileInject(at jsontext.Pointer, i Inject) (answer, error) {
	text, err := parseTemplate(i.Text)
	if err != nil {
		return nil, wrong(at+"/text", err)
	}
	if i.Text == "" {
		return nil, kind.At(at, "inject needs a text")
	}
	switch i.Role {
	case "", chain.RoleSystem, chain.RoleUser, chain.RoleAssistant:
	default:
		return nil, kind.At(at+"/role", `must be "system", "user" or "assistant", not %q`, i.Role)
	}
	if i.AppendToLastToolResult && !i.Ephemeral {
		return nil, kind.At(at+"/append_to_last_tool_result", "counts only with ephemeral: true")
	}
	return func(in *match.Input, _ []byte) (chain.Result, error) {
		content, err := text.render(in)
		if err != nil {
			return chain.Result{}, fmt.Errorf("inject: %w", err)
		}
		result := chain.Injection(content)
		result.ContextInjectionRole = i.Role
		result.Ephemeral = i.Ephemeral
		result.AppendToLastToolResult = i.AppendToLastToolResult
		return result, nil
	}, nil
}

// wrong makes a field error of an error of a template or an expression.
func wrong(at jsontext.Pointer, err error) *kind.FieldError {
	var m *match.Error
	if errors.As(err, &m) {
		return &kind.FieldError{Pointer: at, Line: m.Line, Column: m.Column, Err: errors.New(m.Message)}
	}
	return &kind.FieldError{Pointer: at, Err: err}
}
