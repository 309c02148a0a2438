package verifierkeys

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	signednote "golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// Key is a verifier key and its text.
type Key struct {
	signednote.Verifier
	Text string
}

// Parse parses a key of the form NAME+HASH+KEY.
func Parse(text string) (Key, error) {
	v, err := signednote.NewVerifier(text)
	return Key{v, text}, err
}

// String returns the name and the hash of the key.
func (k Key) String() string { return fmt.Sprintf("%s+%08x", term.Printable(k.Name()), k.KeyHash()) }

// Fingerprint returns the beginning of the SHA-256 of the text. It distinguishes keys in file
// names.
func (k Key) Fingerprint() string {
	sum := sha256.Sum256([]byte(k.Text))
	return hex.EncodeToString(sum[:8])
}

// Read reads keys given on the command line, or in files with one key per line.
func Read(flag string, given []string) (list []Key, err error) {
	for _, text := range given {
		lines := []string{text}
		if _, err := signednote.NewVerifier(text); err != nil {
			content, readErr := os.ReadFile(text)
			switch {
			case errors.Is(readErr, fs.ErrNotExist) && strings.Count(text, "+") >= 2 && !strings.HasPrefix(text, "PRIVATE"):
				return nil, fmt.Errorf("read %s %s: it is not a file, and as a key it is malformed: %w", flag, term.Clip(text, term.MaxValue), err)
			case readErr != nil && strings.HasPrefix(text, "PRIVATE+KEY"):
				return nil, privateKey(flag)
			case errors.Is(readErr, fs.ErrNotExist):
				return nil, fmt.Errorf("read %s: there is no file %s: `hookctl audit key new` makes a key, and FILE.pub for its verifier key", flag, term.Clip(text, term.MaxValue))
			case readErr != nil:
				return nil, fmt.Errorf("read %s: %w", flag, readErr)
			}
			lines = strings.Split(string(content), "\n")
		}
		found := 0
		for _, line := range lines {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if strings.HasPrefix(line, "PRIVATE+KEY") {
				return nil, privateKey(flag)
			}
			k, err := Parse(line)
			if err != nil {
				return nil, fmt.Errorf("read %s %s: no verifier key, which is NAME+HASH+KEY: %w", flag, term.Clip(text, term.MaxValue), err)
			}
			list = Add(list, k)
			found++
		}
		if found == 0 {
			return nil, fmt.Errorf("read %s %s: there is no key in it", flag, term.Clip(text, term.MaxValue))
		}
	}
	return list, nil
}

func privateKey(flag string) error {
	return fmt.Errorf("read %s: that is the private key, which signs; the verifier key is wanted, in the file beside it that ends with .pub", flag)
}

// Add adds a key unless the list has it.
func Add(list []Key, k Key) []Key {
	if slices.ContainsFunc(list, func(have Key) bool { return have.Text == k.Text }) {
		return list
	}
	return append(list, k)
}

// Verifiers returns the verifiers of the keys.
func Verifiers(list []Key) []signednote.Verifier {
	out := make([]signednote.Verifier, len(list))
	for i, k := range list {
		out[i] = k.Verifier
	}
	return out
}

// Texts returns the texts of the keys.
func Texts(list []Key) []string {
	out := make([]string, len(list))
	for i, k := range list {
		out[i] = k.Text
	}
	return out
}

// Names returns the names of the keys, on one line.
func Names(list []Key) string {
	names := make([]string, len(list))
	for i, k := range list {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}
