package all_test

import (
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/builtinhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestANameAloneIsEnough builds each builtin from a worker file that gives no options.
func TestANameAloneIsEnough(t *testing.T) {
	guards := []string{"approval-policy", "command-guard", "flow-guard", "path-guard", "redaction"}
	for name, b := range all.Builtins() {
		file, err := workerfile.Parse("worker.yaml", []byte("hooks: [{id: a, builtin: "+name+"}]"),
			workerfile.Options{Kinds: map[string]kind.Kind{"builtin": builtinhook.New(all.Builtins())}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := file.Hooks[0].Registration
		if len(r.Events)+len(r.Channels) == 0 || b.Summary == "" {
			t.Errorf("%s registers %+v, with the summary %q", name, r, b.Summary)
		}
		if _, err := match.Compile(r.Match); err != nil && r.Match != "" {
			t.Errorf("%s registers the match %q: %v", name, r.Match, err)
		}
		if slices.Contains(guards, name) && (r.OnFailure != chain.FailClosed || !r.StaysRegistered()) {
			t.Errorf("%s is a guard, and registers %+v", name, r)
		}
		file.Close()
	}
}
