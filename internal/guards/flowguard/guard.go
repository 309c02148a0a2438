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

// Builtin is the builtin flow-guard. It runs after the other guards: the session does not see what
// they deny.
var Builtin = builtin.Of("Labels sessions that read secrets or text of others, and stops what they send out.",
	chain.Registration{
		Events: []string{events.PromptSubmit, events.ToolPre, events.ToolPost, events.ToolError, events.SessionEnd}, Priority: 30, OnFailure: chain.FailClosed,
	}, New)

// guard is a configured flow-guard.
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

// New creates the hook.
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
	case events.ToolPost, events.ToolError: // a failed tool may have printed something before
		return g.after(ev)
	case events.SessionEnd:
		builtin.Forget(ctx, g.states, g.log, ev)
	}
	return chain.Result{}, nil
}

// said stores a prompt of the user. If that fails, the guard asks about more calls.
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

// before evaluates the calls of a tool:pre event, and labels the session for the data that they
// bring in.
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
	result.Labels = labels // includes labels that the session already has, to renew them
	return result, failed
}

// judge decides on one call, depending on the labels of its session.
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

// stated reports whether the user's prompts contain all values of a call, and records that the call
// is allowed.
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

// after labels the session for the data that a tool brought in, and for secrets in its result or
// error.
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

// holdsSecret reports whether a result contains a secret that is recognizable by its form.
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
