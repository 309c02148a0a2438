package agenthook_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// TestAnAgentBelowAnother checks what hooks are told of the agents that a hook's process
// runs below, by its environment.
func TestAnAgentBelowAnother(t *testing.T) {
	t.Parallel()
	b := start(t)
	var seen worker.Event
	b.answer(func(_ context.Context, ev worker.Event) (worker.Result, error) {
		seen = ev
		return worker.Continue()
	})
	const own = "own"
	for i, c := range []struct {
		environment  map[string]string
		parent, root string
	}{
		{nil, "", ""},
		{map[string]string{"CODEX_THREAD_ID": own}, "", ""},
		{map[string]string{"CODEX_THREAD_ID": own, "CLAUDE_CODE_SESSION_ID": "outer"}, "outer", "outer"},
		{map[string]string{"CODEX_THREAD_ID": "outer"}, "outer", "outer"},
		{map[string]string{"CLAUDE_CODE_SESSION_ID": "first", "AGENT_SESSION_ID": "second"}, "first", "second"},
		{map[string]string{"CLAUDE_CODE_SESSION_ID": "outer", "AGENT_SESSION_ID": "outer"}, "outer", "outer"},
	} {
		session := fmt.Sprint("session-", i) // claims are kept
		h := newCall(t, "codex", "", b.url)
		h.Options.Getenv = func(name string) string {
			if c.environment[name] == own {
				return session
			}
			return c.environment[name]
		}
		out := h.Answer(t.Context(), fmt.Appendf(nil, `{"session_id":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`, session))
		if out.Code != 0 || seen.Session != session {
			t.Fatalf("%v: %+v, and the hook saw session %q", c.environment, out, seen.Session)
		}
		if parent, root := seen.Extensions[events.AttrParent], seen.Extensions[events.AttrRoot]; parent != c.parent || root != c.root {
			t.Errorf("%v: parent %q and root %q, want %q and %q", c.environment, parent, root, c.parent, c.root)
		}
	}
}

// The first process passes on the variables of all dialects.
func TestSessionVariables(t *testing.T) {
	t.Parallel()
	for _, d := range agenthook.Dialects() {
		if d.SessionEnv != "" && !slices.Contains(supervisor.SessionVariables[:], d.SessionEnv) {
			t.Errorf("%s: %s is missing", d.Name, d.SessionEnv)
		}
	}
}
