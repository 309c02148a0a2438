package follow

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/bundle"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestSweepKeepsFilesOfOthers has policies whose names begin alike share a directory.
func TestSweepKeepsFilesOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &Follower{Options: Options{Dir: dir, Name: "a"}, running: map[bundle.Use]*bundle.Bundle{}}
	gone := []string{"a.enforce.1.files", "a.shadow.2.files", "a.enforce.1.files.123"}
	kept := []string{"a.b.enforce.1.files", "a.enforce.enforce.3.files", "a.enforce.1x.shadow.1.files", "ab.enforce.1.files"}
	for _, name := range append(gone, kept...) {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(-2*unused)); err != nil {
			t.Fatal(err)
		}
	}
	const used = "a.enforce.7.files" // by another worker
	if err := os.Mkdir(filepath.Join(dir, used), 0o700); err != nil {
		t.Fatal(err)
	}
	kept = append(kept, used)
	f.sweep()
	for _, name := range gone {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone", name)
		}
	}
}

// TestFilesThatSomebodyChangedAreNotUsed has the files of the policy that runs replaced, and its
// hooks built again, as for a policy in shadow.
func TestFilesThatSomebodyChangedAreNotUsed(t *testing.T) {
	t.Parallel()
	seal, _ := sealer(t)
	b := seal(1,
		bundle.File{Name: "worker.yaml", Text: "hooks: [{id: judge, events: [\"tool:pre\"], rego: {files: [rules], query: data.judge.result}}]\n"},
		bundle.File{Name: "rules/judge.rego", Text: "package judge\nresult := {\"action\": \"deny\", \"reason\": \"no\"}\n"},
	)
	weak := []byte("package judge\nresult := {\"action\": \"continue\"}\n")
	for name, change := range map[string]func(dir string) error{
		"a file": func(dir string) error { return os.WriteFile(filepath.Join(dir, "rules", "judge.rego"), weak, 0o600) },
		"a file more": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "rules", "x.rego"), []byte("package judge\nresult := {}\n"), 0o600)
		},
		"a file less": func(dir string) error { return os.Remove(filepath.Join(dir, "rules", "judge.rego")) },
		"a link": func(dir string) error {
			other := filepath.Join(filepath.Dir(dir), "other")
			if err := os.Rename(dir, other); err != nil {
				return err
			}
			return os.Symlink(other, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := New(Options{Dir: t.TempDir(), Name: "p"})
			if err != nil {
				t.Fatal(err)
			}
			if err := f.try(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			f.running[bundle.Enforce] = b
			if err := change(f.files(b)); err != nil {
				t.Fatal(err)
			}
			file, err := f.compose()
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			result, err := file.Hooks[0].Handler(t.Context(), events.Event{Name: events.ToolPre, Data: json.RawMessage(`{}`)})
			if err != nil || !result.Denied() || !intact(b, f.files(b)) {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}
