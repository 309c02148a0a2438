package gitstatus

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Limits of the copy of a repository. The status of a larger repository is an error.
const (
	maxIndex = 256 << 20 // bytes
	maxSmall = 16 << 20  // bytes of any other file
	maxRefs  = 20_000
)

// repository describes where the parts of a git repository are.
type repository struct {
	tree   string   // the root of the files
	place  string   // the git directory that all worktrees share
	common *os.Root // the same, open
	own    string   // the git directory of this worktree, relative to common
}

// find looks for a repository in dir and its parents, and returns nil if there is none. A ".git"
// file that names another directory is accepted only for a linked worktree that this directory
// lists.
func find(dir string) (*repository, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	for err == nil {
		r, err := at(dir)
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return r, ignoreMissing(err)
		}
		dir = parent
	}
	return nil, ignoreMissing(err)
}

func at(dir string) (*repository, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(".git")
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		git, err := root.OpenRoot(".git")
		if err != nil {
			return nil, err
		}
		return &repository{dir, filepath.Join(dir, ".git"), git, "."}, nil
	}
	link, err := read(root, ".git", maxSmall)
	if err != nil {
		return nil, err
	}
	own, _ := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
	worktrees := filepath.Dir(own)
	if !filepath.IsAbs(own) || filepath.Base(worktrees) != "worktrees" {
		return nil, nil
	}
	place := filepath.Dir(worktrees)
	common, err := os.OpenRoot(place)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	r := &repository{dir, place, common, filepath.Join("worktrees", filepath.Base(own))}
	if back, err := read(common, filepath.Join(r.own, "gitdir"), maxSmall); err != nil || strings.TrimSpace(string(back)) != filepath.Join(dir, ".git") {
		return nil, errors.Join(ignoreMissing(err), common.Close())
	}
	return r, nil
}

// copyTo copies the files that git needs, except objects and settings. It does not follow links out
// of the repository.
func (r *repository) copyTo(dir string) error {
	to, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, file := range [][2]string{
		{filepath.Join(r.own, "HEAD"), "HEAD"},
		{filepath.Join(r.own, "index"), "index"},
		{"packed-refs", "packed-refs"},
		{"shallow", "shallow"},
		{"info/exclude", "info/exclude"},
	} {
		if err := r.copyFile(to, file[0], file[1]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := to.MkdirAll("refs", 0o700); err != nil {
		return err
	}
	refs := 0
	return fs.WalkDir(r.common.FS(), "refs", func(path string, entry fs.DirEntry, err error) error {
		switch refs++; {
		case err != nil:
			return ignoreMissing(err)
		case refs > maxRefs:
			return errors.New("the repository has too many refs")
		case !entry.Type().IsRegular():
			return nil
		}
		return ignoreMissing(r.copyFile(to, path, path))
	})
}

// copyFile copies a file and its modification time: git decides by the time of the index which of
// its entries to trust.
func (r *repository) copyFile(to *os.Root, from, name string) error {
	limit := int64(maxSmall)
	if name == "index" {
		limit = maxIndex
	}
	info, err := r.common.Stat(from)
	if err != nil {
		return err
	}
	content, err := read(r.common, from, limit)
	if err == nil {
		err = to.MkdirAll(filepath.Dir(name), 0o700)
	}
	if err == nil {
		err = to.WriteFile(name, content, 0o600)
	}
	if err == nil {
		err = to.Chtimes(name, info.ModTime(), info.ModTime())
	}
	return err
}

// read reads a regular file of at most limit bytes.
func read(root *os.Root, name string, limit int64) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // so that opening a pipe without a writer does not block
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New(name+" is not a regular file"))
	}
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = errors.New(name + " is too long")
	}
	return content, err
}

// ignoreMissing returns err, or nil if it says that a file is missing or not accessible to this
// process.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
