package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestTheResidentHookInPython runs the program of the guide, of at most ten lines, as the
// worker file before it says.
func TestTheResidentHookInPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	t.Parallel()
	dir, config := t.TempDir(), ""
	for _, s := range snippets(t, "python") {
		if s.info != "resident" {
			continue
		}
		if n := strings.Count(s.text, "\n"); n > 10 {
			t.Errorf("%s: it has %d lines", s.at(), n)
		}
		if err := os.WriteFile(filepath.Join(dir, "no-destroy.py"), []byte(s.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range snippets(t, "yaml") {
		if strings.Contains(s.text, "no-destroy.py") {
			config = s.text
		}
	}
	file, err := workerfile.Parse("worker.yaml", []byte(config), kinds.All(kind.Worker{Dir: dir}))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for data, want := range map[string]string{
		`{"tool_name":"Bash","tool_input":{"command":"terraform destroy"}}`: "nobody destroys from here",
		`{"tool_name":"Bash","tool_input":{"command":"ls"}}`:                "",
		`{}`: "",
	} {
		got, err := file.Hooks[0].Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(data)})
		if err != nil || got.Reason != want {
			t.Errorf("%s: %+v, %v; want the reason %q", data, got, err, want)
		}
	}
}
