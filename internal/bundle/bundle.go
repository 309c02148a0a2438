package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"
)

// Limits of a bundle.
const (
	MaxSize  = 512 << 10 // bytes of the document, which must fit into one message
	maxFiles = 256
	maxName  = 200 // bytes of a file's name
)

// File is one file of a bundle.
type File struct {
	Name string `json:"name"` // a path with slashes, below the directory of the worker file
	Text string `json:"text"`
}

// Bundle is a bundle whose signature and files were verified.
type Bundle struct {
	Statement
	Files []File // the worker file first
	Raw   []byte // the document as it was sent
}

// document is the JSON encoding of a bundle.
type document struct {
	Statement string `json:"statement"`
	Files     []File `json:"files"`
}

// Seal signs a statement about files and returns the bundle. It sets the digest of the statement.
func Seal(key note.Signer, s Statement, files []File) (*Bundle, error) {
	if err := checkFiles(files); err != nil {
		return nil, err
	}
	s.Digest, s.Created = DigestOf(files), s.Created.UTC().Truncate(1e9)
	if err := s.Check(); err != nil {
		return nil, err
	}
	signed, err := note.Sign(&note.Note{Text: s.text()}, key)
	if err != nil {
		return nil, fmt.Errorf("sign the policy: %w", err)
	}
	raw, err := jsonv2.Marshal(document{string(signed), files})
	if err != nil {
		return nil, fmt.Errorf("write the policy: %w", err)
	}
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("the policy has %d bytes with its files: at most %d are allowed", len(raw), MaxSize)
	}
	return &Bundle{s, files, append(raw, '\n')}, nil
}

// errUnsigned means that no configured key signed a bundle.
var errUnsigned = errors.New("none of the configured keys signed it")

// Open parses a bundle and verifies that one of the keys signed it.
func Open(raw []byte, keys ...note.Verifier) (*Bundle, error) {
	doc, err := read(raw)
	if err != nil {
		return nil, err
	}
	signed, err := note.Open([]byte(doc.Statement), note.VerifierList(keys...))
	if _, unknown := errors.AsType[*note.UnverifiedNoteError](err); unknown {
		return nil, errUnsigned
	}
	if err != nil {
		return nil, fmt.Errorf("its signature is wrong: %w", err)
	}
	s, err := parse(signed.Text)
	if err != nil {
		return nil, fmt.Errorf("its statement is wrong: %w", err)
	}
	if err := checkFiles(doc.Files); err != nil {
		return nil, err
	}
	if DigestOf(doc.Files) != s.Digest {
		return nil, errors.New("its files are not those that were signed")
	}
	return &Bundle{s, doc.Files, raw}, nil
}

// Claimed returns the statement of a bundle without verifying its signature, for use by a store.
func Claimed(raw []byte) (Statement, error) {
	doc, err := read(raw)
	if err != nil {
		return Statement{}, err
	}
	text, _, found := strings.Cut(doc.Statement, "\n\n")
	if !found {
		return Statement{}, errUnsigned
	}
	s, err := parse(text + "\n")
	if err != nil {
		return s, fmt.Errorf("its statement is wrong: %w", err)
	}
	return s, nil
}

func read(raw []byte) (doc document, err error) {
	if len(raw) > MaxSize+1 {
		return doc, fmt.Errorf("it has %d bytes: at most %d are allowed", len(raw), MaxSize)
	}
	if err := jsonv2.Unmarshal(raw, &doc, jsonv2.RejectUnknownMembers(true)); err != nil {
		return doc, errors.New("it is not a bundle: `hookctl policy push` makes one")
	}
	return doc, nil
}

// checkFiles returns an error if the files of a bundle are invalid.
func checkFiles(files []File) error {
	if len(files) == 0 || len(files) > maxFiles {
		return fmt.Errorf("it has %d files: 1 to %d are allowed", len(files), maxFiles)
	}
	seen := map[string]bool{}
	for _, f := range files {
		folded := strings.ToLower(f.Name) // the same file on a case-insensitive file system
		switch {
		case !fs.ValidPath(f.Name) || f.Name == "." || len(f.Name) > maxName || !filepath.IsLocal(filepath.FromSlash(f.Name)) || !plain(f.Name):
			return fmt.Errorf("%.80q is not a valid file name in a bundle: want letters, digits, - _ + . and /, below the directory of the worker file", f.Name)
		case seen[folded]:
			return fmt.Errorf("it has the file %s twice", f.Name)
		case !utf8.ValidString(f.Text):
			return fmt.Errorf("the file %s is not text", f.Name)
		}
		seen[folded] = true
	}
	for _, f := range files {
		for dir := path.Dir(strings.ToLower(f.Name)); dir != "."; dir = path.Dir(dir) {
			if seen[dir] {
				return fmt.Errorf("%s is a file and a directory", dir)
			}
		}
	}
	return nil
}

func plain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_+./", r))
	})
}

// Write writes the files to an empty directory, readable by the owner only, and returns the path of
// the worker file.
func (b *Bundle) Write(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for _, f := range b.Files {
		name := filepath.FromSlash(f.Name)
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return "", err
		}
		if err := root.WriteFile(name, []byte(f.Text), 0o600); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, filepath.FromSlash(b.Files[0].Name)), nil
}
