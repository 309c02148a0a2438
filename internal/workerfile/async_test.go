package workerfile_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// async: true is short for mode: async, and contradicts any other mode.
func TestAsync(t *testing.T) {
	t.Parallel()
	parse := func(said string) (*workerfile.File, error) {
		text := "hooks:\n  - id: lint\n    events: [tool:post]\n    " + said + "\n    cel:\n      rules:\n        - inject: 2 warnings\n"
		return workerfile.Parse("worker.yaml", []byte(text), basic.Kinds(kind.Worker{}))
	}
	for _, said := range []string{"async: true", "mode: async", "async: false"} {
		f, err := parse(said)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Hooks[0].Registration.Mode == chain.Async; got != (said != "async: false") {
			t.Errorf("%s: mode %q", said, f.Hooks[0].Registration.Mode)
		}
	}
	if _, err := parse("async: true\n    mode: shadow"); err == nil || !strings.Contains(err.Error(), "mode: shadow") {
		t.Errorf("a mode beside it: %v", err)
	}
}
