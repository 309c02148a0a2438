package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/bundle"
)

// write writes the files of a bundle to their directory atomically, unless they are already there
// unchanged. Other workers may share the directory of policies and load from it at the same time.
func (f *Follower) write(b *bundle.Bundle) error {
	dir := f.files(b)
	if intact(b, dir) {
		touch(dir)
		return nil
	}
	made, err := os.MkdirTemp(f.Dir, filepath.Base(dir)+".*")
	if err != nil {
		return fmt.Errorf("write its files: %w", err)
	}
	defer func() { _ = os.RemoveAll(made) }() // no-op after the rename
	if _, err := b.Write(made); err != nil {
		return fmt.Errorf("write its files: %w", err)
	}
	if os.Rename(made, dir) == nil || intact(b, dir) {
		return nil
	}
	if err = os.RemoveAll(dir); err == nil {
		err = os.Rename(made, dir)
	}
	if err != nil && !intact(b, dir) {
		return fmt.Errorf("write its files: %w", err)
	}
	return nil
}

// intact reports whether a directory contains the files of a bundle and no others.
func intact(b *bundle.Bundle, dir string) bool {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return false
	}
	found := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		i := slices.IndexFunc(b.Files, func(file bundle.File) bool { return file.Name == filepath.ToSlash(name) })
		if err != nil || i < 0 || !entry.Type().IsRegular() {
			return errChanged
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != b.Files[i].Text { //nolint:gosec // below the directory of policies
			return errChanged
		}
		found++
		return nil
	})
	return err == nil && found == len(b.Files)
}

var errChanged = errors.New("it is not what was signed")

// files returns the directory of a bundle's files.
func (f *Follower) files(b *bundle.Bundle) string {
	return filepath.Join(f.Dir, fmt.Sprintf("%s.%s.%d.files", f.Name, b.Use, b.Serial))
}

// unused is how long files must be unused by all workers before they are removed.
const unused = time.Hour

func touch(dir string) { _ = os.Chtimes(dir, time.Time{}, time.Now()) } // if it was removed, build writes it again

// touchRunning touches the files of the running bundles, so that a worker that shares the directory
// does not remove them.
func (f *Follower) touchRunning() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.running {
		touch(f.files(b))
	}
}

// sweep removes the files of bundles that no worker runs. The caller holds mu.
func (f *Follower) sweep() {
	dirs, err := filepath.Glob(filepath.Join(f.Dir, f.Name+".*.files*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		if !f.own(dir) || slices.ContainsFunc(slices.Collect(maps.Values(f.running)), func(b *bundle.Bundle) bool { return f.files(b) == dir }) {
			continue
		}
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > unused {
			_ = os.RemoveAll(dir) // after an error the files stay
		}
	}
}

// own reports whether a directory of files belongs to this policy. The names of other policies may
// start with its name.
func (f *Follower) own(dir string) bool {
	rest, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), f.Name+"."), ".files")
	use, serial, _ := strings.Cut(rest, ".")
	_, err := strconv.ParseUint(serial, 10, 64)
	return err == nil && (use == string(bundle.Enforce) || use == string(bundle.Shadow))
}
