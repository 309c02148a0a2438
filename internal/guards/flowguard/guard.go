package flowguard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/policy/redact"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Builtin is flow-guard. Its priority is behind that of the guards: what they deny is not
// seen by the session.
var Builtin = builtin.Of("Labels sessions that read secrets or text of others, and stops what they send out.",
	chain.Registration{
		Events: []string{events.PromptSubmit, events.ToolPre, events.ToolPost, events.ToolError, events.SessionEnd}, Priority: 30, OnFailure: chain.FailClosed,
	}, New)

// guard is a flow-guard as it was configured.
type guard struct {
	Tools                     Tools
	onSecret, onUntrusted     decision.Decision
	secrets, foreign, outside pathguard.Judge
	synced                    pathguard.Judge
	prompts                   bool
	timeout                   *float64
	states                    hookstate.Sessions[memory]
	log                       *slog.Logger
}

// New builds the hook.
func New(s kind.Section, o Options) (kind.Hook, error) {
	g, err := o.compile()
	if err != nil {
		return kind.Hook{}, err
	}
	g.states, g.log = builtin.StateOf[memory](s, "flow-guard"), builtin.LogOf(s)
	return kind.Hook{Handler: g.handle}, nil
}

func (g guard) handle(ctx context.Context, ev events.Event) (chain.Result, error) {
	switch ev.Name {
	case events.PromptSubmit:
		g.said(ctx, ev)
		return chain.Result{}, nil
	case events.ToolPre:
		return g.before(ctx, ev)
	case events.ToolPost, events.ToolError: // what a tool prints before it fails is read too
		return g.after(ev)
	case events.SessionEnd:
		builtin.Forget(ctx, g.states, g.log, ev)
	}
	return chain.Result{}, nil
}

// said remembers what the user says. Where it can't be remembered more is asked.
func (g guard) said(ctx context.Context, ev events.Event) {
	if !g.prompts || ev.Session == "" || ev.Extensions[events.AttrParent] != "" {
		return
	}
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return
	}
	prompt, _ := data.GetString("prompt")
	if parent, _ := data.GetString("parent_session_id"); parent != "" || prompt == "" {
		return
	}
	if err := g.states.Update(ctx, builtin.Owner(ev), func(m *memory) bool { m.add(prompt); return true }); err != nil {
		g.log.Warn("prompt not remembered; calls with its values are asked about", "session_id", ev.Session, "error", err)
	}
}

// before judges the calls of a tool:pre, and labels the session with what they let in.
func (g guard) before(ctx context.Context, ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	var labels []string
	var failed error
	result := decision.OfEvent(ev, func(tool events.Tool) chain.Result {
		f := g.flowOf(ev, tool)
		labels = events.UnionLabels(labels, f.labels())
		one, err := g.judge(ctx, ev, data, tool, f)
		failed = errors.Join(failed, err)
		return one
	})
	result.Labels = labels // also those that the session has: it got them again
	return result, failed
}

// judge decides about one call, by what its session has seen.
func (g guard) judge(ctx context.Context, ev events.Event, data events.Object, tool events.Tool, f flow) (chain.Result, error) {
	seen := ev.Labels()
	secret := slices.Contains(seen, SecretRead) || f.secret && f.same
	untrusted := slices.Contains(seen, UntrustedInput)
	then, why, option := decision.Allow, "", "secret"
	switch {
	case secret && (f.egress == shell.Yes || f.fetch):
		then, why = g.onSecret, "has read a secret ("+SecretRead+")"
	case untrusted && (f.egress == shell.Yes || f.write):
		option, then, why = "untrusted", g.onUntrusted, "has taken in text of others ("+UntrustedInput+")"
	case secret && f.egress == shell.Maybe && g.onSecret != decision.Allow:
		then, why = decision.Ask, "has read a secret ("+SecretRead+")"
	}
	if then == decision.Allow {
		return chain.Result{}, nil
	}
	if stated, err := g.stated(ctx, ev, data, tool); stated || err != nil {
		return chain.Result{}, err
	}
	reason := fmt.Sprintf("This session %s, and %s %s", why, decision.Tool(tool.Name), f.what)
	if then == decision.Deny {
		return chain.Result{Action: chain.Deny, Reason: reason, Rule: decision.Option(option)}, nil
	}
	line, _ := decision.Question(tool)
	return chain.Result{
		Action: chain.AskUser, ApprovalPrompt: line + "\n\nAsked because: " + reason, ApprovalOptions: []string{"Allow once", "Deny"},
		ApprovalTimeout: g.timeout, Reason: reason, Rule: decision.Option(option),
	}, nil
}

// stated reports whether the user said all that a call is given, and notes that it passes.
func (g guard) stated(ctx context.Context, ev events.Event, data events.Object, tool events.Tool) (stated bool, err error) {
	if !g.prompts || ev.Session == "" {
		return false, nil
	}
	v := valuesOf(tool, data)
	err = g.states.Update(ctx, builtin.Owner(ev), func(m *memory) bool {
		stated = m.states(v) && m.pass(v.digest(tool), decision.Clip(ev.ID, 100))
		return stated
	})
	return stated, err
}

// after labels the session with what a tool let in, and with the secrets that its result or its error
// has.
func (g guard) after(ev events.Event) (chain.Result, error) {
	data, err := events.ParseObject(ev.Data)
	if err != nil {
		return chain.Result{}, err
	}
	var labels []string
	for _, tool := range events.ToolsOf(ev.Name, ev.Data) {
		labels = events.UnionLabels(labels, g.flowOf(ev, tool).labels())
	}
	failure, _ := data.Get("error")
	if tool, _ := data.Tool(ev.Name); (holdsSecret(data.ToolResult()) || holdsSecret(failure)) && !g.Tools.Trusted.Match(tool) {
		labels = events.UnionLabels(labels, []string{SecretRead})
	}
	return chain.Result{Labels: labels}, nil
}

// holdsSecret reports whether a result has a secret by its form.
func holdsSecret(result jsontext.Value) bool {
	if len(result) == 0 {
		return false
	}
	wrapped, err := json.Marshal(map[string]json.RawMessage{"result": json.RawMessage(result)})
	if err != nil {
		return false
	}
	_, found := redact.Options{Nested: true}.Object(wrapped)
	return found > 0
}
