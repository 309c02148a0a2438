package agenthook_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

var update = flag.Bool("update", false, "write the golden files")

// cases are what a hook may say, by name.
var cases = []struct {
	name    string
	handler worker.Handler
}{
	{"pass", func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }},
	{"deny", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POLICY-NO") }},
	{"modify", changed},
	{"inject", func(context.Context, worker.Event) (worker.Result, error) { return worker.Inject("CONTEXT") }},
	{"message", func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Result{UserMessage: "TOLD", UserMessageLevel: "warning"}, nil
	}},
}

// changed changes the command, the prompt or the result of an event's data.
func changed(_ context.Context, ev worker.Event) (worker.Result, error) {
	var data map[string]any
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return worker.Result{}, err
	}
	switch {
	case data["tool_result"] != nil:
		result, isObject := data["tool_result"].(map[string]any)
		if !isObject {
			data["tool_result"] = "CHANGED"
		}
		for _, member := range []string{"stdout", "llmContent", "textResultForLlm", "output"} {
			if result[member] != nil {
				result[member] = "CHANGED"
			}
		}
	case data["tool_input"] != nil:
		data["tool_input"].(map[string]any)["command"] = "echo CHANGED"
	case data["prompt"] != nil:
		data["prompt"] = "CHANGED"
	default:
		return worker.Continue()
	}
	return worker.Modify(data)
}

// Every sample of a real agent × everything that a hook may say: the golden files are what
// the agents get, with no other field than the vendors document.
func TestGolden(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, d := range agenthook.Dialects() {
		t.Run(d.Name, func(t *testing.T) {
			var got strings.Builder
			for _, native := range samples(t, d.Name) {
				for _, c := range cases {
					b.answer(c.handler)
					h := newCall(t, d.Name, native, b.url)
					out := h.Answer(t.Context(), sample(t, d.Name, native))
					fmt.Fprintf(&got, "%s: %s\n", native, c.name)
					write(&got, "stdout", string(out.Stdout))
					write(&got, "stderr", h.notes.String()+out.Stderr)
					if out.Code != 0 {
						write(&got, "exit", fmt.Sprint(out.Code))
					}
				}
			}
			path := filepath.Join("testdata", d.Name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("run the test with -update, and read what changed (-want +got):\n%s", diff)
			}
		})
	}
}

func write(to *strings.Builder, name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(to, "  %s %s\n", name, strings.ReplaceAll(text, "\n", "\n    "))
	}
}
