package policies_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestFeedbackFindsWhatIsWrong runs the real commands of feedback.yaml on a module whose
// types and tests are wrong, one after the other.
func TestFeedbackFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	policy, err := os.ReadFile("feedback.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write("go.mod", "module example.org/sum\n\ngo 1.26\n")
	write("sum_test.go", "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n")
	file, err := workerfile.Parse("feedback.yaml", policy, basic.Kinds(kind.Worker{Dir: dir}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Close)
	for _, c := range []struct{ text, hook, want string }{
		{"package sum\n\nfunc Sum(a, b int) int { return a + c }\n", "type-checker", "undefined: c"},
		{"package sum\n\nfunc Sum(a, b int) int { return a - b }\n", "test-runner", "TestSum"},
		{"package sum\n\nfunc Sum(a, b int) int { return a + b }\n", "", ""},
	} {
		write("sum.go", c.text)
		for _, h := range file.Hooks {
			if c.hook != "" && c.hook != h.Registration.ID {
				continue // only who finds it
			}
			result, err := h.Handler(t.Context(), events.Event{Name: events.ToolPost, Session: "s1", Data: []byte(`{"tool_name":"Write","tool_input":{"file_path":"sum.go","content":"x"}}`)})
			if err != nil {
				t.Fatalf("%s: %v", h.Registration.ID, err)
			}
			found := result.Action == chain.InjectContext
			if c.hook != "" && (!found || !strings.Contains(result.ContextInjection, c.want)) {
				t.Errorf("%s: %+v; want %q", c.hook, result, c.want)
			}
			if c.hook == "" && found {
				t.Errorf("%s: %+v; want nothing", h.Registration.ID, result)
			}
		}
	}
}
