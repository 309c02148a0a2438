package all_test

import (
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/builtinkind"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestANameAloneIsEnough builds each builtin from a worker file that gives no options.
func TestANameAloneIsEnough(t *testing.T) {
	guards := []string{"approval-policy", "command-guard", "path-guard", "redaction"}
	for name, b := range all.Builtins() {
		file, err := hookfile.Parse("worker.yaml", []byte("hooks: [{id: a, builtin: "+name+"}]"),
			hookfile.Options{Kinds: map[string]kind.Kind{"builtin": builtinkind.New(all.Builtins())}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := file.Hooks[0].Registration
		if len(r.Events)+len(r.Channels) == 0 || b.Summary == "" {
			t.Errorf("%s registers %+v, with the summary %q", name, r, b.Summary)
		}
		if slices.Contains(guards, name) && (r.OnFailure != chain.FailClosed || !r.StaysRegistered()) {
			t.Errorf("%s is a guard, and registers %+v", name, r)
		}
		file.Close()
	}
}
