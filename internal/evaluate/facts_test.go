package evaluate_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func policyOf(t *testing.T, file string) evaluate.Policy {
	t.Helper()
	loaded, err := workerfile.Parse("worker.yaml", []byte(file), basic.Kinds(kind.Worker{}))
	if err != nil {
		t.Fatal(err)
	}
	return evaluate.NewFilePolicy(loaded, evaluate.FilePolicyOptions{WithRecorded: true}).Replay
}

// In a replay, rules see what the router knew of the session and its sender when it decided.
func TestRulesJudgeWhatTheRouterKnewThen(t *testing.T) {
	t.Parallel()
	last := ended("c1", "continue", 1)
	last.Detail = audit.Chain{
		Emitter: "nats agent/coder", Root: "s0", Depth: 1, Labels: []string{"new", "old"}, Called: 1, In: &audit.Data{Value: json.RawMessage(bash)},
	}
	file := export(t, []any{record(audit.HookResult, "c1", "sets", "continue", audit.Call{Labels: []string{"new"}}), last})
	for condition, want := range map[string]chain.Action{
		"'old' in labels":                  chain.Deny,
		"'new' in labels":                  chain.Continue, // set by a hook after this one
		"emitter.id == 'nats agent/coder'": chain.Deny,
		"emitter.role == 'agent'":          chain.Deny,
		"emitter.proven":                   chain.Deny,
		"lineage.root == 's0'":             chain.Deny,
		"lineage.parent == 's0'":           chain.Deny,
		"lineage.depth == 1":               chain.Deny,
	} {
		for _, rule := range []string{
			`{id: tried, events: ["tool:pre"], priority: -1, match: "` + condition + `", cel: {rules: [{deny: x}]}}`,
			`{id: tried, events: ["tool:pre"], priority: -1, cel: {rules: [{when: "` + condition + `", deny: x}]}}`,
		} {
			results, _ := run(t, evaluate.FromExport(bytes.NewReader(file), evaluate.RecordingFilter{}), policyOf(t, "hooks: ["+rule+"]"))
			if got := results[0].Would.Action; got != want {
				t.Errorf("%s would be %s; want %s", rule, got, want)
			}
		}
	}
	behind := `hooks: [{id: tried, events: ["tool:pre"], match: "'new' in labels", cel: {rules: [{deny: x}]}}]`
	if results, _ := run(t, evaluate.FromExport(bytes.NewReader(file), evaluate.RecordingFilter{}), policyOf(t, behind)); results[0].Would.Action != chain.Deny {
		t.Errorf("behind the hook that set the label it would be %s", results[0].Would.Action)
	}
}

// Default fields that an agent sends separately are in the data that hooks left, even if none
// changed it.
func TestRulesJudgeDefaultFields(t *testing.T) {
	t.Parallel()
	last := ended("c1", "continue", 0)
	last.Detail = audit.Chain{
		In: &audit.Data{Value: json.RawMessage(bash)}, Out: &audit.Data{Value: json.RawMessage(`{"tenant":"a","timestamp":"2026-03-01T11:59:00Z",` + bash[1:])},
	}
	rule := `hooks: [{id: tried, events: ["tool:pre"], cel: {rules: [{when: "data.tenant == 'a' && data.timestamp == '2026-03-01T11:59:00Z'", deny: x}]}}]`
	results, _ := run(t, evaluate.FromExport(bytes.NewReader(export(t, []any{last})), evaluate.RecordingFilter{}), policyOf(t, rule))
	if results[0].Would.Action != chain.Deny {
		t.Errorf("it would be %+v", results[0].Would)
	}
}

// What a hook gave the agent beside a text is no default field: no other hook was given it.
func TestTheDataOfAnInjectionIsNoDefaultField(t *testing.T) {
	t.Parallel()
	own := &audit.Data{Value: json.RawMessage(`{"tenant":"a",` + bash[1:])}
	last := ended("c1", "continue", 1)
	last.Detail = audit.Chain{Called: 1, In: &audit.Data{Value: json.RawMessage(bash)}, Out: own}
	injects := record(audit.HookResult, "c1", "injects", "inject_context", audit.Call{
		Injection: &audit.Data{Value: json.RawMessage(`"x"`)}, Data: own, Changes: json.RawMessage(`[{"op":"add","path":"/tenant","value":"a"}]`),
	})
	rule := `hooks: [{id: tried, events: ["tool:pre"], priority: -1, cel: {rules: [{when: "has(data.tenant)", deny: x}]}}]`
	results, _ := run(t, evaluate.FromExport(bytes.NewReader(export(t, []any{injects, last})), evaluate.RecordingFilter{}), policyOf(t, rule))
	if results[0].Would.Action == chain.Deny {
		t.Errorf("it would be %+v", results[0].Would)
	}
}

// A policy that no longer sets a label decides later events differently.
func TestOtherLabelsAreADifference(t *testing.T) {
	t.Parallel()
	last := ended("c1", "continue", 1)
	last.Detail = audit.Chain{Labels: []string{"secret-read"}, Called: 1, In: &audit.Data{Value: json.RawMessage(bash)}}
	file := export(t, []any{record(audit.HookResult, "c1", "reads", "continue", audit.Call{Labels: []string{"secret-read"}}), last})
	for rule, want := range map[string]string{
		"{labels: [secret-read]}":                "",
		"{labels: [secret-read, other]}":         evaluate.DiffersInLabels,
		"{inject: x}":                            evaluate.DiffersInAction,
		"{when: 'false', labels: [secret-read]}": evaluate.DiffersInLabels,
	} {
		results, _ := run(t, evaluate.FromExport(bytes.NewReader(file), evaluate.RecordingFilter{}), policyOf(t, `hooks: [{id: reads, events: ["tool:pre"], cel: {rules: [`+rule+`]}}]`))
		if got := results[0].Differs; got != want {
			t.Errorf("%s differs in %q; want %q", rule, got, want)
		}
	}
}

// Registered hooks, too, see what the router knew then, and not what it knows of the session now.
func TestRegisteredHooksJudgeWhatTheRouterKnewThen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, router.Options{})
	f.emit(bash)
	unregister := f.hook(safe("sets"), always(chain.Result{Labels: []string{"seen"}}))
	f.emit(bash)
	unregister()
	f.emit(bash)
	f.hook(chain.Registration{ID: "told", ReplaySafe: true}, always(chain.Result{}))
	f.hook(chain.Registration{ID: "tried", Priority: 5, Match: `"seen" in labels`, ReplaySafe: true}, always(chain.Denial("seen")))
	f.seen()
	results, _ := f.replay()
	for i, want := range []chain.Action{chain.Continue, chain.Continue, chain.Deny} { // the hook that sets the label is gone
		if got := results[i].Would.Action; got != want {
			t.Errorf("chain %d would be %s; want %s", i, got, want)
		}
	}
	labeled := 0
	for _, c := range f.seen() {
		labeled += len(c.Labels())
	}
	if labeled != 2 { // told and tried, of the last
		t.Errorf("hooks were given %d labels; want 2", labeled)
	}
}
