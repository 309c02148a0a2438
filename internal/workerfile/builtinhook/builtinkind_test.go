package builtinhook_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/builtinhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// greeting are the options of a builtin.
type greeting struct {
	Text string `json:"text"`
	To   struct {
		Name string `json:"name"`
	} `json:"to"`
}

// kinds returns options with one builtin, which counts how often it is closed.
func kinds(closed *int) workerfile.Options {
	greet := builtin.Of("Greets.", chain.Registration{Events: []string{"prompt:submit"}, Priority: 20, OnFailure: chain.FailClosed},
		func(_ kind.Section, o greeting) (kind.Hook, error) {
			if o.To.Name == "nobody" {
				return kind.Hook{}, kind.At("/to/name", "must be somebody")
			}
			return kind.Hook{
				Handler: func(context.Context, events.Event) (chain.Result, error) {
					return chain.Injection(o.Text + o.To.Name), nil
				},
				Close: func() { *closed++ },
			}, nil
		})
	return workerfile.Options{Kinds: map[string]kind.Kind{"builtin": builtinhook.New(map[string]builtin.Builtin{"greet": greet})}}
}

func ExampleNew() {
	file, err := workerfile.Parse("worker.yaml", []byte("hooks: [{id: a, builtin: {greet: {text: Hello}}}]"), kinds(new(int)))
	if err != nil {
		fmt.Println(err)
		return
	}
	hook := file.Hooks[0]
	result, err := hook.Handler(context.Background(), events.Event{})
	fmt.Println(hook.Registration.Events, hook.Registration.OnFailure, result.ContextInjection, err)
	// Output: [prompt:submit] deny Hello <nil>
}

func TestTheFileOverridesTheBuiltin(t *testing.T) {
	const text = "hooks: [{id: a, builtin: greet, events: [x], priority: 0, on_failure: continue, timeout_ms: 7}]"
	file, err := workerfile.Parse("w.yaml", []byte(text), kinds(new(int)))
	if err != nil {
		t.Fatal(err)
	}
	want := chain.Registration{ID: "a", Events: []string{"x"}, TimeoutMS: 7, OnFailure: chain.FailOpen}
	if diff := cmp.Diff(want, file.Hooks[0].Registration); diff != "" {
		t.Errorf("registration (-want +got):\n%s", diff)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`hooks: [{id: a, builtin: greed}]`:                         `w.yaml:1:26: hooks[0].builtin: there is no builtin "greed": did you mean "greet"?`,
		`hooks: [{id: a, builtin: {greed: {}}}]`:                   `w.yaml:1:27: hooks[0].builtin.greed: there is no builtin "greed": did you mean "greet"?`,
		`hooks: [{id: a, builtin: nobody}]`:                        `w.yaml:1:26: hooks[0].builtin: there is no builtin "nobody": known are greet`,
		`hooks: [{id: a, builtin: {}}]`:                            `w.yaml:1:26: hooks[0].builtin: must name one builtin`,
		`hooks: [{id: a, builtin: {greet: {}, x: {}}}]`:            `w.yaml:1:26: hooks[0].builtin: must name one builtin, not 2: options are indented deeper than the builtin's name`,
		`hooks: [{id: a, builtin: {greet: {txt: a}}}]`:             `w.yaml:1:35: hooks[0].builtin.greet: unknown key "txt": did you mean "text"?`,
		`hooks: [{id: a, builtin: {greet: {to: {name: nobody}}}}]`: `w.yaml:1:46: hooks[0].builtin.greet.to.name: must be somebody`,
		`hooks: [{id: a, builtin: 7}]`:                             `w.yaml:1:26: hooks[0].builtin: must be the name of a builtin, alone or with its options`,
	} {
		_, err := workerfile.Parse("w.yaml", []byte(text), kinds(new(int)))
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestBuiltHooksAreClosed(t *testing.T) {
	closed := 0
	if _, err := workerfile.Parse("w.yaml", []byte("hooks: [{id: a, builtin: greet}, {id: b, builtin: greet}, {id: a, builtin: greet}]"), kinds(&closed)); err == nil || closed != 3 {
		t.Errorf("a file that is wrong closed %d hooks, %v; want all 3 that were built", closed, err)
	}
	closed = 0
	file, err := workerfile.Parse("w.yaml", []byte("hooks: [{id: a, builtin: greet}]"), kinds(&closed))
	if err != nil || closed != 0 {
		t.Fatalf("%d hooks are closed, %v", closed, err)
	}
	if file.Close(); closed != 1 {
		t.Errorf("%d hooks are closed; want 1", closed)
	}
}
