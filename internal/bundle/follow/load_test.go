package follow

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookrouter/hookrouter/internal/bundle"
)

// TestSweepKeepsFilesOfOthers has policies whose names begin alike share a directory.
func TestSweepKeepsFilesOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &Follower{Options: Options{Dir: dir, Name: "a"}, running: map[bundle.Use]*bundle.Bundle{}}
	gone := []string{"a.enforce.1.files", "a.shadow.2.files"}
	kept := []string{"a.b.enforce.1.files", "a.enforce.enforce.3.files", "a.enforce.1x.shadow.1.files", "ab.enforce.1.files"}
	for _, name := range append(gone, kept...) {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
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
