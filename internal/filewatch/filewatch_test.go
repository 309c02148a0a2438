package filewatch_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(16)
	goleak.VerifyTestMain(m)
}

func Example() {
	dir, err := os.MkdirTemp("", "filewatch")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "rules.yaml")
	w, err := filewatch.New(file) // before it is read
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	if err := os.WriteFile(file, []byte("rules: []\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	<-w.Changed()
	text, err := os.ReadFile(file)
	fmt.Print(string(text), err)
	// Output: rules: []
	// <nil>
}

// put writes text over what is in the file, in one step: a file that is emptied before it is
// written may be seen to change twice.
func put(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600)
	must(t, err)
	if text != "" {
		_, err = f.WriteString(text)
	}
	must(t, errors.Join(err, f.Close()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func changed(t *testing.T, w *filewatch.Watcher) {
	t.Helper()
	select {
	case <-w.Changed():
	case <-time.After(20 * time.Second):
		t.Fatal("a change was not reported")
	}
}

func unchanged(t *testing.T, w *filewatch.Watcher) {
	t.Helper()
	select {
	case <-w.Changed():
		t.Fatal("a change was reported, and there was none")
	case <-time.After(2 * filewatch.Settled):
	}
}

func TestChangesAreNoticedHoweverTheyAreMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, change func(t *testing.T, dir, file string)
	}{
		"written in its place": {change: func(t *testing.T, _, file string) { put(t, file, "2") }},
		"renamed over it, as editors do": {change: func(t *testing.T, dir, file string) {
			put(t, filepath.Join(dir, "tmp"), "2")
			must(t, os.Rename(filepath.Join(dir, "tmp"), file))
		}},
		"taken away": {change: func(t *testing.T, _, file string) { must(t, os.Remove(file)) }},
		"touched": {change: func(t *testing.T, _, file string) {
			must(t, os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)))
		}},
		"a link swapped beside it, as Kubernetes does": {
			before: func(t *testing.T, dir, file string) {
				must(t, os.Remove(file))
				must(t, os.Mkdir(filepath.Join(dir, "..1"), 0o700))
				put(t, filepath.Join(dir, "..1", "f"), "1")
				must(t, os.Symlink("..1", filepath.Join(dir, "..data")))
				must(t, os.Symlink("..data/f", file))
			},
			change: func(t *testing.T, dir, _ string) {
				must(t, os.Mkdir(filepath.Join(dir, "..2"), 0o700))
				put(t, filepath.Join(dir, "..2", "f"), "2")
				must(t, os.Symlink("..2", filepath.Join(dir, "..tmp")))
				must(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
				must(t, os.RemoveAll(filepath.Join(dir, "..1")))
			},
		},
		"written where a link leads": {
			before: func(t *testing.T, dir, file string) {
				must(t, os.Remove(file))
				must(t, os.Mkdir(filepath.Join(dir, "elsewhere"), 0o700))
				put(t, filepath.Join(dir, "elsewhere", "g"), "1")
				must(t, os.Symlink("elsewhere/g", file))
			},
			change: func(t *testing.T, dir, _ string) { put(t, filepath.Join(dir, "elsewhere", "g"), "2") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "f")
			put(t, file, "1")
			if c.before != nil {
				c.before(t, dir, file)
			}
			w, err := filewatch.New(file)
			must(t, err)
			defer w.Close()
			c.change(t, dir, file)
			changed(t, w)
			unchanged(t, w)
			_ = os.Remove(file)
			put(t, file, "3")
			changed(t, w)
		})
	}
}

func TestADirectoryThatComesBackIsWatchedAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "conf")
	file := filepath.Join(dir, "f")
	must(t, os.Mkdir(dir, 0o700))
	put(t, file, "1")
	w, err := filewatch.New(file)
	must(t, err)
	defer w.Close()
	must(t, os.RemoveAll(dir))
	changed(t, w)
	must(t, os.Mkdir(dir, 0o700))
	put(t, file, "2")
	changed(t, w)
}

func TestOnlyFilesOfInterestCount(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(other, "b")
	put(t, a, "1")
	put(t, b, "1")
	w, err := filewatch.New(a)
	must(t, err)
	defer w.Close()
	put(t, filepath.Join(dir, "log"), "a line\n")
	put(t, b, "2")
	unchanged(t, w)
	must(t, w.Watch(a, b))
	put(t, b, "3")
	changed(t, w)
	must(t, w.Watch(a))
	put(t, b, "4")
	unchanged(t, w)
	if _, err := filewatch.New(filepath.Join(dir, "no", "such")); err == nil {
		t.Error("a directory that is not there is watched")
	}
}

func TestADirectoryChangesWithTheFilesInIt(t *testing.T) {
	t.Parallel()
	for _, watched := range []string{"dir", "link"} {
		t.Run(watched, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			dir, link := filepath.Join(parent, "dir"), filepath.Join(parent, "link")
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.Symlink("dir", link))
			w, err := filewatch.New(filepath.Join(parent, watched))
			must(t, err)
			defer w.Close()
			put(t, a, "")
			changed(t, w)
			put(t, a, "1 and more")
			changed(t, w)
			must(t, os.Rename(a, b))
			changed(t, w)
			must(t, os.Remove(b))
			changed(t, w)
			must(t, os.Mkdir(b, 0o700))
			changed(t, w)
			put(t, filepath.Join(b, "c"), "1")
			unchanged(t, w)
			must(t, os.Remove(filepath.Join(b, "c")))
			must(t, os.Remove(b))
			changed(t, w)
		})
	}
}
