package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces a file, or makes it. Its directory must exist.
func Write(path string, text []byte, mode fs.FileMode) error {
	return place(path, text, mode, os.Rename)
}

// Create makes a file that is not there yet; else the error is [fs.ErrExist].
func Create(path string, text []byte, mode fs.FileMode) error {
	return place(path, text, mode, os.Link)
}

func place(path string, text []byte, mode fs.FileMode, how func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone where it was renamed
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := how(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir puts the name of a new file on the disk; Windows does that by itself.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
