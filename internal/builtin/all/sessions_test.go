package all_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/builtinhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// session is what an agent tells of a short one.
var session = []struct{ event, data string }{
	{events.SessionStart, `{}`},
	{events.PromptSubmit, `{"prompt":"Mend the login form, which loses what was typed"}`},
	{events.ToolPre, `{"tool_name":"Read","tool_input":{"file_path":"/nowhere/a.go"}}`},
	{events.ToolPost, `{"tool_name":"Read","tool_input":{"file_path":"/nowhere/a.go"},"tool_result":{}}`},
	{events.ToolPre, `{"tool_name":"TodoWrite","tool_input":{"todos":[{"content":"mend it","status":"pending"}]}}`},
	{events.ToolPost, `{"tool_name":"TodoWrite","tool_input":{"todos":[{"content":"mend it","status":"pending"}]},"tool_result":{}}`},
	{events.ToolPre, `{"tool_name":"Bash","tool_input":{"command":"go test ./..."}}`},
	{events.ToolPost, `{"tool_name":"Bash","tool_input":{"command":"go test ./..."},"tool_result":{"stdout":"ok"}}`},
	{events.ProviderRequest, `{}`},
	{events.LLMResponse, `{"model":"m","usage":{"input_tokens":100,"output_tokens":10}}`},
	{events.PromptComplete, `{}`},
	{events.SessionEnd, `{}`},
}

// TestNothingIsLeftOfSessionsThatEnded has many sessions come and go through all
// builtins that do nothing but answer and remember, and a few through all.
func TestNothingIsLeftOfSessionsThatEnded(t *testing.T) {
	for name, c := range map[string]struct {
		acting   bool
		sessions int
	}{"those that only remember": {false, 20_000}, "all": {true, 5}} {
		t.Run(name, func(t *testing.T) {
			sessions := max(c.sessions/testkit.Volume(t, 100, 20, 1), 5)
			var states hookstate.Memory
			hooks := hooksOf(t, &states, c.acting)
			live(t, hooks, 0, sessions/5)
			before, left := heap(), states.Len()
			live(t, hooks, sessions/5, sessions)
			after := heap()
			t.Logf("%d sessions through %d hooks; heap: %d KiB after the first fifth, %d KiB after all", sessions, len(hooks), before>>10, after>>10)
			if states.Len() != left {
				t.Errorf("%d states were left after the first fifth, and %d after all", left, states.Len())
			}
			if after > before+before/2+4<<20 {
				t.Errorf("the heap grew from %d to %d KiB", before>>10, after>>10)
			}
		})
	}
}

func hooksOf(t *testing.T, states hookstate.Store, acting bool) []workerfile.Hook {
	t.Helper()
	text := "hooks:\n"
	for name := range all.Builtins() {
		text += fmt.Sprintf("  - {id: %s, builtin: %s}\n", name, name)
	}
	file, err := workerfile.Parse("worker.yaml", []byte(text), workerfile.Options{
		Kinds:  map[string]kind.Kind{"builtin": builtinhook.New(all.Builtins())},
		Worker: kind.Worker{States: states, Dir: t.TempDir()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Close)
	var hooks []workerfile.Hook
	for _, h := range file.Hooks {
		if acting || !h.Acts {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

func live(t *testing.T, hooks []workerfile.Hook, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		for n, told := range session {
			ev := events.Event{
				ID: fmt.Sprintf("%d.%d", i, n), Source: "/agent", Name: told.event,
				Session: fmt.Sprintf("session %d", i), Data: json.RawMessage(told.data),
			}
			for _, h := range hooks {
				if !slices.ContainsFunc(h.Registration.Events, func(p string) bool { return events.Match(p, ev.Name) }) {
					continue
				}
				if _, err := h.Handler(t.Context(), ev); err != nil {
					t.Fatalf("%s at %s: %v", h.Registration.ID, ev.Name, err)
				}
			}
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
