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
// original: it is a denial. Codex needs the command of a shell as a text, and takes nothing else of
// it; without a reason it shows the model the original result.
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
		{"codex", "PreToolUse", changing{`"ls"`, `"ls","workdir":"/"`}, `"permissionDecision":"deny"`},
		{"codex", "PostToolUse", changing{`{"output":"x"}`, `"no"`}, `{"decision":"block","reason":"no"}`},
		{"codex", "PostToolUse", changing{`{"output":"x"}`, `" "`}, `{"decision":"block","reason":"(no text)"}`},
		{"gemini", "AfterTool", changing{`{"output":"x"}`, `"no"`}, `{"decision":"deny","reason":"no"}`},
		{"gemini", "AfterTool", changing{`"output":"x"`, `"llmContent":""`}, `{"decision":"deny","reason":"(no text)"}`},
		{"qwen", "PostToolUse", changing{`{"output":"x"}`, `"no"`}, `{"continue":false,"stopReason":"no"}`},
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

// Goose fires no event for what these tools call, so that no hook can allow them.
func TestToolsWhoseCallsNoHookSees(t *testing.T) {
	t.Parallel()
	for tool, denied := range map[string]bool{"delegate": true, "execute_typescript": true, "shell": false} {
		h := newCall(t, "goose", "", "")
		h.Router = changing{}
		out := h.Answer(t.Context(), []byte(`{"event":"PreToolUse","session_id":"s","tool_name":"`+tool+`","tool_input":{}}`))
		if got := strings.Contains(string(out.Stdout), `"decision":"block"`); got != denied {
			t.Errorf("%s: %s", tool, out.Stdout)
		}
	}
}

// Codex reads the hooks anew for a sub-agent, so that no hook can allow one unless the settings are
// the machine's.
func TestSubAgentsOfCodex(t *testing.T) {
	t.Parallel()
	for tool, starts := range map[string]bool{
		"spawn_agent": true, "multi_agent_v1resume_agent": true, "collaborationspawn_agent": true, "collaborationfollowup_task": true,
		"collaborationlist_agents": false, "mcp__team__spawn_agent": false, "Bash": false,
	} {
		for _, managed := range []bool{false, true} {
			h := newCall(t, "codex", "", "")
			h.Router, h.Options.Managed = changing{}, managed
			out := h.Answer(t.Context(), []byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"`+tool+`","tool_input":{}}`))
			if got := strings.Contains(string(out.Stdout), `"permissionDecision":"deny"`); got != (starts && !managed) {
				t.Errorf("%s, managed %v: %s", tool, managed, out.Stdout)
			}
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

// The other tools of Codex run with all of the changed input.
func TestCodexTakesTheWholeInputOfAnotherTool(t *testing.T) {
	t.Parallel()
	h := newCall(t, "codex", "", "")
	h.Router = changing{`"ls"`, `"ls","workdir":"/"`}
	out := h.Answer(t.Context(), []byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"mcp__a__run","tool_input":{"command":"ls"}}`))
	if want := `"updatedInput":{"command":"ls","workdir":"/"}`; !strings.Contains(string(out.Stdout), want) {
		t.Errorf("%s; want %s", out.Stdout, want)
	}
}

// Gemini CLI and Qwen Code ignore context beside the reason that replaces a result.
func TestContextBesideAChangedResult(t *testing.T) {
	t.Parallel()
	for dialect, native := range map[string]string{"gemini": "AfterTool", "qwen": "PostToolUse"} {
		h := newCall(t, dialect, native, "")
		h.Router = adding{changing{"SECRET", "MASKED"}}
		out := h.Answer(t.Context(), []byte(`{"session_id":"s","tool_name":"x","tool_response":{"llmContent":"SECRET"}}`))
		if got := string(out.Stdout); !strings.Contains(got, `"MASKED\n\nCONTEXT"`) || strings.Contains(got, "additionalContext") {
			t.Errorf("%s: %s; want the context in the reason", dialect, got)
		}
	}
}

// adding is a router whose hooks add context, too.
type adding struct{ changing }

func (r adding) Execute(ctx context.Context, e agenthook.Sent) (verdict.Verdict, error) {
	v, err := r.changing.Execute(ctx, e)
	v.Messages = []verdict.Message{{Content: "CONTEXT"}}
	return v, err
}

// A change at the end of a turn is lost, which is said.
func TestALostChangeIsNoted(t *testing.T) {
	t.Parallel()
	h := newCall(t, "claude-code", "Stop", "")
	h.Router = changing{"done", "changed"}
	out := h.Answer(t.Context(), []byte(`{"session_id":"s","last_assistant_message":"done"}`))
	if blocks(out) || !strings.Contains(h.notes.String(), "takes no change at Stop") {
		t.Errorf("%s, noted %q; want it to end, and the change noted", out.Stdout, h.notes.String())
	}
}

// A second process that sends an event again must send the same bytes: the router refuses the same
// event with other data, and the answer of a person would be lost.
func TestEventsAreSentInOneOrder(t *testing.T) {
	t.Parallel()
	seen := recording{}
	for range 50 {
		h := newCall(t, "claude-code", "SubagentStop", "")
		h.Router = seen
		h.Answer(t.Context(), []byte(`{"session_id":"s","agent_id":"a","agent_type":"Explore"}`))
	}
	if len(seen) != 1 {
		t.Errorf("sent %v; want one form", seen)
	}
}

// recording is a router that counts what it is sent.
type recording map[string]int

func (recording) Emit(context.Context, agenthook.Sent) (chain.Result, error) {
	return chain.Result{}, nil
}

func (r recording) Execute(_ context.Context, e agenthook.Sent) (verdict.Verdict, error) {
	r[string(e.Data)]++
	return verdict.Verdict{Action: verdict.Continue, Data: e.Data}, nil
}
