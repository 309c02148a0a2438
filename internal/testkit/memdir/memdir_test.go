package memdir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit/memdir"
)

func TestParentIsADirectoryToWriteTo(t *testing.T) {
	f, err := os.CreateTemp(memdir.Parent(), "test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		t.Error(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if got := memdir.Parent(); got != os.TempDir() {
		t.Errorf("%s; want %s", got, os.TempDir())
	}
}

func TestMadeKeepsWhatWasWritten(t *testing.T) {
	var where string
	files, err := memdir.Made(func(dir string) error {
		where = dir
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "sub", "a"), []byte("text"), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := fs.ReadFile(files, "sub/a"); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(where); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", where, err)
	}
	broken := errors.New("no")
	if _, err := memdir.Made(func(string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v; want the error of fill", err)
	}
}
