package regohook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// policy is a compiled Config; immutable.
type policy struct {
	query rego.PreparedEvalQuery
	rules []string
	where map[string]string        // the name of each rule, with the places where it is defined
	name  func(file string) string // the displayed name of a file
}

func (p *policy) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	document, err := input(ev)
	if err != nil {
		return chain.Result{}, fmt.Errorf("evaluate policy: write the event: %w", err)
	}
	set, err := p.query.Eval(ctx, rego.EvalParsedInput(document), rego.EvalTime(kind.Now(ctx)))
	if ctx.Err() != nil {
		return chain.Result{}, fmt.Errorf("evaluate policy: %w", ctx.Err())
	}
	if err != nil {
		return chain.Result{}, fmt.Errorf("evaluate policy: %w", p.withoutValues(err))
	}
	values, ok := valuesOf(set)
	if !ok || len(values) != len(p.rules) {
		return chain.Result{}, errors.New("evaluate policy: it has no value")
	}
	result, err := decide(p.rules, values)
	if err != nil {
		return chain.Result{}, fmt.Errorf("evaluate policy: %w", err)
	}
	if tool, ok := events.ToolOf(ev.Name, ev.Data); ok && result.ApprovalPrompt == unsure {
		line, _ := decision.Question(tool)
		result.ApprovalPrompt = line + "\n\nAsked because: " + unsure
	}
	result.Rule = p.where[result.Rule]
	return result, nil
}

// valuesOf returns the list that the query evaluates to.
func valuesOf(set rego.ResultSet) ([]any, bool) {
	if len(set) != 1 || len(set[0].Expressions) != 1 {
		return nil, false
	}
	values, ok := set[0].Expressions[0].Value.([]any)
	return values, ok
}

// withoutValues returns an error of the evaluation without the event's data: only what failed, and
// where.
func (p *policy) withoutValues(err error) error {
	failed, ok := errors.AsType[*topdown.Error](err)
	if !ok {
		return errors.New("it failed")
	}
	text := failed.Code
	if name, _, found := strings.Cut(failed.Message, ":"); found && ast.BuiltinMap[name] != nil {
		text += ": " + name
	}
	if at := failed.Location; at != nil {
		if at.File == "" {
			return fmt.Errorf("line %d of the policy: %s", at.Row, text)
		}
		return fmt.Errorf("%s:%d: %s", p.name(at.File), at.Row, text)
	}
	return errors.New(text)
}

// payloadTool is a tool with the fields for its call's input that CEL rules have too.
type payloadTool struct {
	events.Tool
	Input json.RawMessage `json:"input,omitempty"`
	Texts []string        `json:"texts,omitempty"`
}

// input returns the document that a policy sees.
func input(ev events.Event) (ast.Value, error) {
	w := kind.Document(ev)
	w.Texts("labels", ev.Labels())
	facts := match.NewInput(ev.Name, ev.Session, nil).With(ev.Extensions)
	for name, value := range map[string]any{"emitter": facts.Emitter(), "lineage": facts.Lineage()} {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		w.Raw(name, raw)
	}
	data := []byte(ev.Data)
	if len(data) == 0 {
		data = []byte("{}")
	}
	w.Raw("data", data)
	call, err := events.ParseObject(data)
	if err != nil {
		return nil, err
	}
	if tool, ok := call.Tool(ev.Name); ok {
		raw, err := json.Marshal(payloadTool{tool, json.RawMessage(match.ToolInput(call)), call.ToolTexts()})
		if err != nil {
			return nil, err
		}
		w.Raw("tool", raw)
	}
	return ast.ValueFromReader(bytes.NewReader(w.End()))
}
