package attack

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
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

// TestAGrantBeyondASessionIsForItsAgent: neither another agent, nor another session than
// those of the tree, nor another command has what a person allowed to a lineage or an agent.
func TestAGrantBeyondASessionIsForItsAgent(t *testing.T) {
	t.Parallel()
	w := newAuthBus(t, router.Options{})
	w.grants()
	ann := approver.New(w.client("ann"))
	ctx := testkit.Within(t, testkit.Patience)
	of := func(name, session, parent string) *agent.Agent {
		t.Helper()
		a, err := agent.New(w.client(name), agent.Options{Session: session, Parent: parent})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	asked := func(a *agent.Agent, answer approval.Answer, data string) bool {
		t.Helper()
		answered := w.answeringAs(ctx, ann, answer)
		x, err := a.Execute(ctx, "tool:pre", json.RawMessage(data))
		if err != nil || <-answered == "" {
			t.Fatalf("%+v, %v", x, err)
		}
		return x.Permitted()
	}
	const list, remove = `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, `{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`
	root, child, stranger, rival := of("coder", "s1", ""), of("coder", "s2", "s1"), of("coder", "s3", ""), of("rival", "s1", "")
	deny := approval.Answer{Option: "Deny"}
	for _, scope := range []string{approval.ScopeLineage, approval.ScopeAgent} {
		if !asked(child, approval.Answer{Option: "Allow always", Scope: scope}, list) {
			t.Fatal("what a person allows is denied")
		}
		if !permitted(t, root, list) || !permitted(t, child, list) {
			t.Errorf("%s: the sessions of the tree are asked again", scope)
		}
		if scope == approval.ScopeAgent && !permitted(t, stranger, list) {
			t.Error("another session of the agent is asked again")
		}
		if scope == approval.ScopeLineage && asked(stranger, deny, list) {
			t.Error("a session of no tree has what was allowed to a lineage")
		}
		for name, a := range map[string]*agent.Agent{"another agent": rival, "another agent that claims the tree": of("rival", "s4", "s1")} {
			if asked(a, deny, list) {
				t.Errorf("%s: %s is permitted", scope, name)
			}
		}
		if asked(root, deny, remove) {
			t.Errorf("%s: another command is permitted", scope)
		}
		grants, err := ann.Grants(ctx, "nats agent/coder")
		if err != nil || len(grants) != 1 || grants[0].Scope != scope || grants[0].Expires == "" || grants[0].By != "nats approver/ann" {
			t.Fatalf("grants %+v, %v", grants, err)
		}
		if ok, err := ann.RevokeGrant(ctx, grants[0].ApprovalID); err != nil || !ok {
			t.Errorf("revoked %v, %v", ok, err)
		}
		for _, a := range []*agent.Agent{root, child} {
			if asked(a, deny, list) {
				t.Errorf("%s: permitted after the revocation", scope)
			}
		}
	}
	if !asked(of("coder", "s9", ""), approval.Answer{Option: "Allow always", Scope: approval.ScopeAgent}, list) {
		t.Fatal("what a person allows is denied")
	}
	if info, err := ann.Session(ctx, "s9"); err != nil || info.Agent != "nats agent/coder" {
		t.Errorf("a session that has nothing but such a grant: %+v, %v", info, err)
	}
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
