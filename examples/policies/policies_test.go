package policies_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func load(path string) evaluate.Loader {
	return func(w kind.Worker) (*workerfile.File, error) { return workerfile.Load(path, basic.Kinds(w)) }
}

// failing runs the tests of a policy and returns how many fail, and the report.
func failing(t *testing.T, path string, load evaluate.Loader) (n int, report string) {
	t.Helper()
	var out bytes.Buffer
	r := &evaluate.Report{Out: term.NewPrinter(&out, false, false, false)}
	if err := evaluate.RunTests(t.Context(), path, load, evaluate.Options{}, r.Add); err != nil {
		t.Fatal(err)
	}
	return r.Failed, out.String()
}

// TestEveryHookIsTested runs the tests of each policy, and then without
// each of its hooks, which some test must notice.
func TestEveryHookIsTested(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != 6 {
		t.Fatalf("policies %q, %v; want six", files, err)
	}
	for _, path := range files {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			if n, report := failing(t, path, load(path)); n > 0 {
				t.Fatal(report)
			}
			whole, err := load(path)(kind.Worker{})
			if err != nil {
				t.Fatal(err)
			}
			if len(whole.Tests) < len(whole.Hooks) {
				t.Errorf("%d tests for %d hooks", len(whole.Tests), len(whole.Hooks))
			}
			if os.Getenv("HOOKROUTER_FULL") == "" {
				return // the rest loads each file many times
			}
			for i, h := range whole.Hooks {
				without := func(w kind.Worker) (*workerfile.File, error) {
					f, err := load(path)(w)
					if err == nil {
						f.Hooks = slices.Delete(f.Hooks, i, i+1)
					}
					return f, err
				}
				if n, _ := failing(t, path, without); n == 0 {
					t.Errorf("no test notices that %s is gone", h.Registration.ID)
				}
			}
		})
	}
}

// TestGuardsFailClosed: who denies or asks about a tool before it runs denies when it fails.
func TestGuardsFailClosed(t *testing.T) {
	for path, want := range map[string]int{"starter.yaml": 4, "coding-agent.yaml": 8, "cost-control.yaml": 3, "observe.yaml": 0, "specification.yaml": 5} {
		f, err := load(path)(kind.Worker{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, h := range f.Hooks {
			if h.Registration.OnFailure == chain.FailClosed {
				n++
			}
			if path == "observe.yaml" && h.Registration.Enforced() {
				t.Errorf("%s: %s is enforced", path, h.Registration.ID)
			}
		}
		if n != want {
			t.Errorf("%s: %d hooks fail closed; want %d", path, n, want)
		}
	}
}
