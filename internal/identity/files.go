package identity

import (
	"errors"
	"io/fs"
	"os"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
)

// writeFile replaces a file atomically.
func writeFile(path string, content []byte, mode fs.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
		return errors.Join(os.Chmod(path, mode), giveToOwner(path))
	}
	if err := atomicfile.Write(path, content, mode); err != nil {
		return err
	}
	return giveToOwner(path)
}

// makeOwn creates a directory that only its owner may read. It fails for another user's directory.
func makeOwn(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := checkOwner(dir); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700) //nolint:gosec // a directory
}
