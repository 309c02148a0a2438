package memdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing/fstest"
)

// Made returns the files that fill writes into an empty directory, for tests that start with copies
// of them ([os.CopyFS]). Only the owner can read the copies.
func Made(fill func(dir string) error) (fs.FS, error) {
	dir, err := os.MkdirTemp(Parent(), "made-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := fill(dir); err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	return files, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = &fstest.MapFile{Data: data, Mode: 0o600}
		return err
	})
}
