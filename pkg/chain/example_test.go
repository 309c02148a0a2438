package chain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// Hooks of one's own process, without a router.
func ExampleRegistry() {
	var hooks chain.Registry
	unregister, err := hooks.Register(chain.Registration{ID: "no-rm", Events: []string{events.ToolPre}},
		func(_ context.Context, ev events.Event) (chain.Result, error) {
			var d events.ToolPreData
			if err := ev.Decode(&d); err != nil {
				return chain.Result{}, err
			}
			if d.ToolName == "Bash" {
				return chain.Denial("no shell"), nil
			}
			return chain.Result{}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	data := events.ToolPreData{ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"rm -rf /"}`)}
	result, err := hooks.Emit(context.Background(), events.ToolPre, data)
	fmt.Println(result.Action, result.Reason, err)

	unregister()
	result, err = hooks.Emit(context.Background(), events.ToolPre, data)
	fmt.Println(result.Action, result.Reason, err)
	// Output:
	// deny no shell <nil>
	// continue  <nil>
}

// Each hook gets what the one before it made of the data.
func ExampleReplace() {
	var hooks chain.Registry
	for _, word := range []string{"one", "two"} {
		_, err := hooks.Register(chain.Registration{ID: word, Events: []string{events.PromptSubmit}},
			func(_ context.Context, ev events.Event) (chain.Result, error) {
				var d events.PromptSubmitData
				if err := ev.Decode(&d); err != nil {
					return chain.Result{}, err
				}
				d.Prompt += " " + word
				return chain.Replace(events.PromptSubmitData{Prompt: d.Prompt})
			})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	result, err := hooks.Emit(context.Background(), events.PromptSubmit, events.PromptSubmitData{Prompt: "zero"})
	fmt.Println(string(result.Data), err)
	// Output: {"prompt":"zero one two"} <nil>
}

// Many are asked at the same time; what each gave comes in the order of the hooks.
func ExampleRegistry_EmitAndCollect() {
	var hooks chain.Registry
	for _, id := range []string{"disk", "memory"} {
		_, err := hooks.Register(chain.Registration{ID: id, Events: []string{"health:check"}},
			func(context.Context, events.Event) (chain.Result, error) {
				return chain.Result{Data: json.RawMessage(`{"` + id + `":"ok"}`)}, nil
			})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	list, err := hooks.EmitAndCollect(context.Background(), "health:check", nil, time.Second)
	for _, data := range list {
		fmt.Println(string(data))
	}
	fmt.Println(err)
	// Output:
	// {"disk":"ok"}
	// {"memory":"ok"}
	// <nil>
}
