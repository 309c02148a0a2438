package signer

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
)

// keyName is the name of the keys that routers sign with.
const keyName = "hook-router"

// Key signs checkpoints.
type Key struct {
	Signer   note.Signer
	Verifier note.Verifier
	Public   string // the verifier as text
}

// LoadKey reads a key from a file, and creates it if missing. It writes the public half to
// path.pub. The error says what to do.
func LoadKey(path string) (*Key, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key that signs the audit log: %w", err)
	}
	key, err := ParseKey(strings.TrimSpace(string(text)))
	if err == nil {
		_ = showKey(path, key.Public) // if it is missing; the directory may be read-only
	}
	return key, err
}

// ParseKey reads a private key as text, "PRIVATE+KEY+NAME+…".
func ParseKey(private string) (*Key, error) {
	errMalformed := errors.New("the key that signs the audit log is malformed: `hookctl audit key new` makes one")
	signer, err := note.NewSigner(private)
	if err != nil {
		return nil, errMalformed
	}
	const algorithm = 1                      // Ed25519, before its seed
	parts := strings.SplitN(private, "+", 5) // the last part may contain a +
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize || seed[0] != algorithm {
		return nil, errMalformed
	}
	public, err := note.NewEd25519VerifierKey(signer.Name(), ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey))
	if err != nil {
		return nil, errMalformed
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, errMalformed
	}
	return &Key{signer, verifier, public}, nil
}

func makeKey(path string) (*Key, error) {
	private, public, err := note.GenerateKey(rand.Reader, keyName)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.Create(path, []byte(private+"\n"), 0o600)
	}
	if errors.Is(err, fs.ErrExist) { // another process created it first
		return LoadKey(path)
	}
	if err == nil {
		err = showKey(path, public)
	}
	if err != nil {
		return nil, fmt.Errorf("make a key that signs the audit log: %w", err)
	}
	return ParseKey(private)
}

// showKey writes the public half next to the key, unless it exists.
func showKey(path, public string) error {
	text, err := os.ReadFile(path + ".pub")
	if err == nil && strings.TrimSpace(string(text)) == public {
		return nil
	}
	return atomicfile.Write(path+".pub", []byte(public+"\n"), 0o644)
}
