package agenthook_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// changing is a router whose hooks replace a text in the data.
type changing struct{ from, to string }

func (c changing) Emit(_ context.Context, e agenthook.Sent) (chain.Result, error) {
	return chain.Result{Data: e.Data}, nil
}

func (c changing) Execute(_ context.Context, e agenthook.Sent) (verdict.Verdict, error) {
	return verdict.Verdict{Action: verdict.Continue, Data: bytes.Replace(e.Data, []byte(c.from), []byte(c.to), 1)}, nil
}

// An integer that hooks change counts as changed, also where no float tells it from the old one.
func TestChangesOfLargeIntegers(t *testing.T) {
	t.Parallel()
	const document = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"pay","budget":9007199254740995,"tool_input":{"account":9007199254740993,"by":1.0}}`
	for change, want := range map[changing]string{
		{"0993", "0992"}: `"updatedInput":{"account":9007199254740992,"by":1.0}`,
		{"0995", "0996"}: `"permissionDecision":"deny"`,
		{"1.0", "1"}:     "",
	} {
		h := newCall(t, "claude-code", "", "")
		h.Router = change
		if out := h.Answer(t.Context(), []byte(document)); !strings.Contains(string(out.Stdout), want) || want == "" && len(out.Stdout) > 0 {
			t.Errorf("%v: %s; want %s", change, out.Stdout, want)
		}
	}
}

// A hook may give a tool the input that the agent left out.
func TestAnInputThatHooksAdd(t *testing.T) {
	t.Parallel()
	const document = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"list"}`
	for change, want := range map[changing]string{
		{`"tool_name"`, `"tool_input":{"limit":1},"tool_name"`}: `"updatedInput":{"limit":1}`,
		{"x", "y"}: "",
	} {
		h := newCall(t, "claude-code", "", "")
		h.Router = change
		if out := h.Answer(t.Context(), []byte(document)); !strings.Contains(string(out.Stdout), want) || want == "" && len(out.Stdout) > 0 {
			t.Errorf("%v: %s; want %s", change, out.Stdout, want)
		}
	}
}

// An agent would ignore a change that gives its input or result another type, and go on with the
// original: it is a denial. Codex also needs the command of a shell as a text.
func TestChangesOfAnotherType(t *testing.T) {
	t.Parallel()
	const document = `{"session_id":"s","prompt":"p","tool_name":"Bash","tool_input":{"command":"ls"},"tool_result":{"output":"x"}}`
	for _, c := range []struct {
		dialect, native string
		change          changing
		want            string
	}{
		{"claude-code", "PreToolUse", changing{`{"command":"ls"}`, `"no"`}, `"permissionDecision":"deny"`},
		{"claude-code", "PostToolUse", changing{`{"output":"x"}`, `"no"`}, `"decision":"block"`},
		{"codex", "PreToolUse", changing{`{"command":"ls"}`, `null`}, `"permissionDecision":"deny"`},
		{"codex", "PreToolUse", changing{`"ls"`, `["ls"]`}, `"permissionDecision":"deny"`},
		{"codex", "PreToolUse", changing{`"command":"ls"`, ``}, `"permissionDecision":"deny"`},
		{"codex", "PreToolUse", changing{`"ls"`, `"pwd"`}, `"updatedInput":{"command":"pwd"}`},
		{"codex", "PostToolUse", changing{`{"output":"x"}`, `"no"`}, `{"decision":"block","reason":"no"}`},
		{"gemini", "AfterTool", changing{`{"output":"x"}`, `"no"`}, `{"decision":"deny","reason":"no"}`},
		{"copilot", "preToolUse", changing{`{"command":"ls"}`, `[]`}, `"permissionDecision":"deny"`},
		{"copilot", "postToolUse", changing{`{"output":"x"}`, `"no"`}, `"modifiedResult":{"resultType":"success","textResultForLlm":"The policy wants`},
		{"copilot", "postToolUse", changing{`"output":"x"`, `"textResultForLlm":"x"`}, `{"modifiedResult":{"textResultForLlm":"x"}}`},
		{"copilot", "userPromptSubmitted", changing{`"p"`, `{}`}, `{"modifiedPrompt":"The policy wants`},
		{"opencode", "chat.message", changing{`"p"`, `1`}, `{"deny":"The policy wants`},
		{"opencode", "tool.execute.after", changing{`{"output":"x"}`, `"no"`}, `{"deny":"The policy wants`},
		{"opencode", "tool.execute.after", changing{`"output":"x"`, `"output":null`}, `{"deny":"The policy wants`},
	} {
		h := newCall(t, c.dialect, c.native, "")
		h.Router = c.change
		if out := h.Answer(t.Context(), []byte(document)); !strings.Contains(string(out.Stdout), c.want) {
			t.Errorf("%s %s %v: %s; want %s", c.dialect, c.native, c.change, out.Stdout, c.want)
		}
	}
}

// denying is a router whose hooks deny.
type denying struct{ changing }

func (denying) Execute(context.Context, agenthook.Sent) (verdict.Verdict, error) {
	return verdict.Verdict{Action: verdict.Deny, Reason: "POLICY-NO"}, nil
}

// Codex compacts unless it reads that it must not continue: it knows no decision there, and rejects
// an answer that has one.
func TestADeniedCompactionOfCodex(t *testing.T) {
	t.Parallel()
	const document = `{"hook_event_name":"PreCompact","session_id":"s","turn_id":"t","cwd":"/p","model":"m","trigger":"auto"}`
	h := newCall(t, "codex", "", "")
	h.Router = denying{}
	if out, want := h.Answer(t.Context(), []byte(document)), `{"continue":false,"stopReason":"POLICY-NO"}`; strings.TrimSpace(string(out.Stdout)) != want {
		t.Errorf("%s; want %s", out.Stdout, want)
	}
}
