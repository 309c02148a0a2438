package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestRunTool(t *testing.T) {
	t.Parallel()
	change := func(data string) chain.Result {
		return chain.Result{Action: chain.Modify, Data: json.RawMessage(data)}
	}
	broken := errors.New("no such file")
	for sentence, c := range map[string]struct {
		pre, post chain.Result
		result    any
		fails     error
		ran       string // the input that the tool got; empty: it did not run
		want      string
		err       string
		sent      []string
	}{
		"passes": {
			result: map[string]int{"n": 1}, ran: `{"command":"ls"}`, want: `{"n":1}`, sent: []string{"tool:pre", "tool:post"},
		},
		"a result that is no object": {result: "text", ran: `{"command":"ls"}`, want: `"text"`, sent: []string{"tool:pre", "tool:post"}},
		"denied":                     {pre: chain.Denial("no"), err: "denied: no", sent: []string{"tool:pre"}},
		"with other parameters": {
			pre: change(`{"tool_name":"Bash","tool_input":{"command":"ls -l"}}`), result: 1, ran: `{"command":"ls -l"}`, want: `1`, sent: []string{"tool:pre", "tool:post"},
		},
		"not as another tool": {
			pre: change(`{"tool_name":"Other","tool_input":{}}`), err: "a hook changed the call of Bash", sent: []string{"tool:pre"},
		},
		"not without parameters": {
			pre: change(`{"tool_name":"Bash"}`), err: "a hook changed the call of Bash", sent: []string{"tool:pre"},
		},
		"the result is changed": {
			post: change(`{"tool_name":"Bash","tool_result":{"output":"masked"}}`), result: "secret", ran: `{"command":"ls"}`, want: `"masked"`, sent: []string{"tool:pre", "tool:post"},
		},
		"the result is withheld": {
			post: chain.Denial("a secret"), result: "secret", ran: `{"command":"ls"}`, err: "the result of the tool is withheld: a secret", sent: []string{"tool:pre", "tool:post"},
		},
		"the result is taken away": {
			post: change(`{"tool_name":"Bash"}`), result: "secret", ran: `{"command":"ls"}`, err: "took the result away", sent: []string{"tool:pre", "tool:post"},
		},
		"the tool fails with a long message": {
			fails: errors.New(strings.Repeat("é", 1<<20)), ran: `{"command":"ls"}`, err: "é", sent: []string{"tool:pre", "tool:error"},
		},
		"the tool fails": {fails: broken, ran: `{"command":"ls"}`, err: "no such file", sent: []string{"tool:pre", "tool:error"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			b := hooktest.Start(t)
			hooks := map[string]*hooktest.Scripted{
				events.ToolPre: hooktest.Script(c.pre), events.ToolPost: hooktest.Script(c.post), events.ToolError: hooktest.Script(),
			}
			var sent []string
			for event, script := range hooks {
				b.Register(t, worker.Registration{ID: strings.ReplaceAll(event, ":", "-"), Events: []string{event}}, func(ctx context.Context, ev worker.Event) (worker.Result, error) {
					sent = append(sent, ev.Name)
					return script.Handle(ctx, ev)
				})
			}
			ran := ""
			got, err := b.Agent(t, "s1").RunTool(t.Context(), agent.ToolCall{Name: "Bash", Input: map[string]string{"command": "ls"}}, func(_ context.Context, input json.RawMessage) (any, error) {
				ran = string(input)
				return c.result, c.fails
			})
			if string(got) != c.want || ran != c.ran || !slices.Equal(sent, c.sent) {
				t.Errorf("%s, the tool got %s, and %v were sent", got, ran, sent)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			if c.fails != nil && !errors.Is(err, c.fails) {
				t.Errorf("%v is not the tool's own error", err)
			}
		})
	}
}

func TestRunToolWithoutHooks(t *testing.T) {
	t.Parallel()
	got, err := hooktest.Start(t).Agent(t, "s1").RunTool(t.Context(), agent.ToolCall{Name: "Now"}, func(_ context.Context, input json.RawMessage) (any, error) {
		return string(input), nil
	})
	if err != nil || string(got) != `"{}"` {
		t.Errorf("%s, %v", got, err)
	}
}
