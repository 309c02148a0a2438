package testkit

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the module of the programs.
const module = "github.com/hookrouter/hookrouter"

var programs struct {
	sync.Mutex
	built map[string]string // by name and flags
}

// Program builds a program of cmd, or of another directory such as examples/guard, from this tree
// and returns its path. flags are flags of go build, such as [RaceFlags]. The program is cached in
// the user's cache directory. In each run, only the first test calls the go command, which rebuilds
// the program if it has changed.
func Program(t testing.TB, name string, flags ...string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	key := name + " " + strings.Join(flags, " ")
	if path, ok := programs.built[key]; ok {
		return path
	}
	path, err := buildProgram(t, name, flags)
	if err != nil {
		t.Fatalf("build %s: %v", name, err)
	}
	if programs.built == nil {
		programs.built = map[string]string{}
	}
	programs.built[key] = path
	return path
}

// buildProgram builds a program on top of the cached one, and replaces that atomically, since other
// test processes may build or run the same program.
func buildProgram(t testing.TB, name string, flags []string) (string, error) {
	dir, err := programDir(name, flags)
	if err != nil {
		return "", err
	}
	file, from := filepath.Base(name), name
	if file == name {
		from = "cmd/" + name
	}
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	path, stamp, run := filepath.Join(dir, file), filepath.Join(dir, "run"), testRun()
	if by, err := os.ReadFile(stamp); err == nil && run != "" && string(by) == run {
		return path, nil
	}
	own, err := os.MkdirTemp(dir, "build-*") //nolint:usetesting // on the same file system as the cache, for the rename
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(own) }()
	fresh := filepath.Join(own, file)
	if err := reuse(path, fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	args := slices.Concat([]string{"build", "-buildvcs=false", "-o", fresh}, flags, []string{module + "/" + from})
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", err
	}
	// Write the stamp last, so that a process that reads it finds the program.
	if err := os.WriteFile(filepath.Join(own, "run"), []byte(run), 0o600); err != nil {
		return "", err
	}
	return path, os.Rename(filepath.Join(own, "run"), stamp)
}

// testRun identifies the go test command that runs this process by its build directory. It is empty
// for a test that was built elsewhere, since it may run again after the tree has changed.
func testRun() string {
	self, err := os.Executable()
	work := filepath.Dir(filepath.Dir(self))
	if err != nil || !strings.HasPrefix(filepath.Base(work), "go-build") {
		return ""
	}
	return work
}

// programDir returns the cache directory for a program of this tree, built with flags.
func programDir(name string, flags []string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	tree, err := os.Getwd() // the package's directory
	if err != nil {
		return "", err
	}
	for up := filepath.Dir(tree); up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			tree = up
		}
	}
	h := fnv.New64a()
	fmt.Fprintln(h, tree, name, flags)
	dir := filepath.Join(cache, "hookrouter-test", fmt.Sprintf("%x", h.Sum64()))
	return dir, os.MkdirAll(dir, 0o700)
}

// reuse links or copies a program to another path. The go command keeps it if it is up to date, or
// replaces the file without writing to it.
func reuse(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
