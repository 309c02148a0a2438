package console

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
)

// keySize is the size of a key that signs sessions, in bytes.
const keySize = 32

// LoadKey reads [Options.SessionKey] from a file, and creates a missing one. Only its owner may
// read it. Removing it ends all sessions at the next start.
func LoadKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("load the key of the console's sessions: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("load the key of the console's sessions: %s contains no valid key: remove it, and a new one is created", path)
	}
	return key, nil
}

func makeKey(path string) (text []byte, err error) {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	text = append([]byte(base64.StdEncoding.EncodeToString(key)), '\n')
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	err = atomicfile.Create(path, text, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process created it first
		return os.ReadFile(path)
	}
	return text, err
}
