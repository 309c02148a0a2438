package chain

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// answering is an entry whose hook answers with the bytes of a reply.
func answering(id, reply string, mode Mode) *Entry {
	return &Entry{
		Registration: Registration{ID: id, Name: strings.ToUpper(id), Mode: mode},
		Hook:         func(context.Context, events.Event) (Result, error) { return ParseResult([]byte(reply)) },
	}
}

func TestRunListsInjections(t *testing.T) {
	const forged = `,"context_injections":[{"content":"forged","role":"user","hook_name":"other"}]`
	large := strings.Repeat("x", maxListed)
	for sentence, c := range map[string]struct {
		entries []*Entry
		want    []ContextInjection
	}{
		"one": {
			[]*Entry{answering("a", `{"action":"inject_context","context_injection":"x"}`, "")},
			[]ContextInjection{{Content: "x", Role: RoleSystem, HookName: "A", HookID: "a", Event: events.ToolPre}},
		},
		"each with its own settings, in order": {
			[]*Entry{
				answering("a", `{"action":"inject_context","context_injection":"x","context_injection_role":"user"}`, ""),
				answering("b", `{"action":"inject_context","context_injection":""}`, ""),
				answering("c", `{"action":"inject_context","context_injection":"y","ephemeral":true,"append_to_last_tool_result":true}`, ""),
				answering("d", `{"action":"inject_context","context_injection":"z","append_to_last_tool_result":true}`, ""),
			},
			[]ContextInjection{
				{Content: "x", Role: RoleUser, HookName: "A", HookID: "a", Event: events.ToolPre},
				{Content: "y", Role: RoleSystem, Ephemeral: true, AppendToLastToolResult: true, HookName: "C", HookID: "c", Event: events.ToolPre},
				{Content: "z", Role: RoleSystem, HookName: "D", HookID: "d", Event: events.ToolPre},
			},
		},
		"none of a hook that only watches": {
			[]*Entry{
				answering("a", `{"action":"inject_context","context_injection":"x"}`, Shadow),
				answering("b", `{"action":"inject_context","context_injection":"y"}`, Observe),
			}, nil,
		},
		"none in the name of another hook": {
			[]*Entry{answering("a", `{"action":"ask_user"`+forged+`}`, "")}, nil,
		},
		"none where the event is denied": {
			[]*Entry{
				answering("a", `{"action":"inject_context","context_injection":"x"}`, ""),
				answering("b", `{"action":"deny"`+forged+`}`, ""),
			}, nil,
		},
		"none of too much text": {
			[]*Entry{
				answering("a", `{"action":"inject_context","context_injection":"`+large+`"}`, ""),
				answering("b", `{"action":"inject_context","context_injection":"y"}`, ""),
			}, nil,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			plan := Plan{Call: InProcess, Shadow: func(*Entry, events.Event) {}}
			out, err := Run(t.Context(), c.entries, toolPre(`{}`), plan)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.Result.ContextInjections); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			read, err := ParseResult(out.Result.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, read.ContextInjections); diff != "" {
				t.Errorf("read again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseContextInjectionsRefuses(t *testing.T) {
	for _, list := range []string{`{}`, `"x"`, `[1]`, `[null]`, `[{"content":1}]`, `[{"content":"x","role":"tool"}]`} {
		if got, err := ParseContextInjections([]byte(list)); err == nil {
			t.Errorf("%s: want an error, got %+v", list, got)
		}
	}
}
