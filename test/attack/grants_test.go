package attack

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// grants asks one prompt about every tool call; data has the key, where the hook gives one.
func (w *authBus) grants() {
	w.t.Helper()
	guards, err := worker.New(w.client("guards"), worker.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	asks := func(_ context.Context, ev worker.Event) (worker.Result, error) {
		var data struct {
			Key string `json:"key"`
		}
		if err := ev.Decode(&data); err != nil {
			return worker.Result{}, err
		}
		r, err := worker.Ask("Allow Bash?", "Allow once", "Allow always", "Deny")
		r.ApprovalKey = data.Key
		return r, err
	}
	if _, err := guards.Register(w.t.Context(), worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, asks); err != nil {
		w.t.Fatal(err)
	}
}

// permitted sends a tool call that nobody is there to answer for.
func permitted(t *testing.T, a *agent.Agent, data string) bool {
	t.Helper()
	x, err := a.Execute(testkit.Within(t, testkit.Patience), "tool:pre", json.RawMessage(data))
	if err != nil {
		t.Fatal(err)
	}
	return x.Permitted()
}

// TestAlwaysIsForTheSameCall: an agent has a harmless command allowed for good, and sends
// another one under the same prompt.
func TestAlwaysIsForTheSameCall(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	w.grants()
	ann, coder := approver.New(w.client("ann")), w.agent("coder")
	ctx := testkit.Within(t, testkit.Patience)
	allow := func(option, data string) bool {
		t.Helper()
		answered := w.answering(ctx, ann, option)
		x, err := coder.Execute(ctx, "tool:pre", json.RawMessage(data))
		if err != nil || <-answered == "" {
			t.Fatalf("%s: %+v, %v", data, x, err)
		}
		return x.Permitted()
	}
	if !allow("Allow always", `{"tool_name":"Bash","tool_input":{"command":"ls","timeout":5}}`) {
		t.Fatal("what a person allows is denied")
	}
	for _, same := range []string{
		`{"tool_name":"Bash","tool_input":{"command":"ls","timeout":5}}`,
		`{ "tool_input": {"timeout":5, "description":"Lists", "command":"ls"}, "tool_name":"Bash" }`,
	} {
		if !permitted(t, coder, same) {
			t.Errorf("asked again: %s", same)
		}
	}
	for _, other := range []string{
		`{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`,
		`{"tool_name":"Bash","tool_input":{"command":"ls","dangerouslyDisableSandbox":true}}`,
		`{"tool_name":"Bash","tool_input":{"command":"ls"},"toolInput":{"command":"rm -rf /"}}`,
		`{"tool_name":"Bash","tool_input":{"command":"ls"},"key":"k"}`,
		`{"command":"ls"}`,
	} {
		if allow("Deny", other) {
			t.Errorf("permitted without a question: %s", other)
		}
	}
	if !allow("Allow always", `{"tool_name":"Bash","tool_input":{"command":"make a"},"key":"make"}`) {
		t.Fatal("what a person allows is denied")
	}
	if !permitted(t, coder, `{"tool_name":"Bash","tool_input":{"command":"make b"},"key":"make"}`) {
		t.Error("the key of the hook does not take the place of the input")
	}
	for _, other := range []string{
		`{"tool_name":"Bash","tool_input":{"command":"make a"},"key":"other"}`,
		`{"tool_name":"Write","tool_input":{"command":"make a"},"key":"make"}`,
		`{"tool_name":"Bash","tool_input":{"command":"make a"}}`,
	} {
		if allow("Deny", other) {
			t.Errorf("permitted without a question: %s", other)
		}
	}
}
