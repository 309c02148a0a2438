package celhook

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// answer computes the result of a rule that holds.
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
	case r.When == "" && r.UserMessage == "" && len(r.Labels) == 0:
		return nil, kind.At(at, "the rule is empty: give it deny, ask, inject, modify, labels or user_message")
	}
	return func(*match.Input, []byte) (chain.Result, error) { return chain.Result{}, nil }, nil
}

func compileDeny(at jsontext.Pointer, reason string) (answer, error) {
	if strings.TrimSpace(reason) == "" {
		return nil, kind.At(at, "the reason is empty: say why, since the agent sees nothing else")
	}
	text, err := parseTemplate(reason)
	if err != nil {
		return nil, positioned(at, err)
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
		return nil, positioned(at+"/prompt", err)
	}
	if a.Prompt == "" {
		return nil, kind.At(at, "ask needs a prompt")
	}
	key, err := parseTemplate(a.Key)
	if err != nil {
		return nil, positioned(at+"/key", err)
	}
	if t := a.Timeout; t != nil && (*t <= 0 || math.IsInf(*t, 0)) {
		return nil, kind.At(at+"/timeout", "must be a number of seconds above 0, not %v", *t)
	}
	switch a.Default {
	case "", chain.Deny, chain.Allow:
	default:
		return nil, kind.At(at+"/default", `must be "deny" or "allow", not %q`, a.Default)
	}
	if err := checkOptions(at+"/options", a.Options); err != nil {
		return nil, err
	}
	if err := events.CheckLabels(a.Unlabel); err != nil {
		return nil, kind.At(at+"/unlabel", "%w", err)
	}
	return func(in *match.Input, _ []byte) (chain.Result, error) {
		prompt, err := text.render(in)
		if err != nil {
			return chain.Result{}, fmt.Errorf("ask.prompt: %w", err)
		}
		result := chain.Question(prompt, a.Options...)
		result.ApprovalTimeout, result.ApprovalDefault = a.Timeout, a.Default
		result.Unlabel = a.Unlabel
		if result.ApprovalKey, err = key.render(in); err != nil {
			return chain.Result{}, fmt.Errorf("ask.key: %w", err)
		}
		return result, nil
	}, nil
}

// checkOptions returns an error if a person could not choose one of the options.
func checkOptions(at jsontext.Pointer, options []string) error {
	if options != nil && len(options) == 0 {
		return kind.At(at, "there is nothing to choose: name the options, or leave the key out for Allow and Deny")
	}
	for i, o := range options {
		at := at.AppendToken(fmt.Sprint(i))
		switch first := slices.Index(options, o); {
		case strings.TrimSpace(o) == "":
			return kind.At(at, "an option is a text that a person can choose")
		case first < i:
			return kind.At(at, "the option %q stands there already: each is another answer", o)
		}
	}
	return nil
}

func compileInject(at jsontext.Pointer, i Inject) (answer, error) {
	place, name := at+"/text", "inject.text"
	if i.short {
		place, name = at, "inject"
	}
	text, err := parseTemplate(i.Text)
	if err != nil {
		return nil, positioned(place, err)
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
			return chain.Result{}, fmt.Errorf("%s: %w", name, err)
		}
		result := chain.Injection(content)
		result.ContextInjectionRole = i.Role
		result.Ephemeral = i.Ephemeral
		result.AppendToLastToolResult = i.AppendToLastToolResult
		return result, nil
	}, nil
}
