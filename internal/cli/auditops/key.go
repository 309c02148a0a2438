package auditops

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	sumdb "golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// KeyCmd is `hookctl audit key`.
type KeyCmd struct {
	New  keyNewCmd  `cmd:"" help:"Make a key that signs, for routers or for a witness; needs no NATS."`
	Show keyShowCmd `cmd:"" help:"Show the verifier key of a key file; needs no NATS."`
}

type keyNewCmd struct {
	File string `arg:"" help:"File for the new private key; FILE.pub gets the verifier key."`
	Name string `default:"hook-router" help:"Name of the key; a witness's names its owner."`
}

type keyShowCmd struct {
	File string `arg:"" help:"File of the private key, or of the verifier key."`
}

// ShownKey is the JSON form of a key.
type ShownKey struct {
	Name     string `json:"name"`
	Verifier string `json:"verifier"`
	File     string `json:"file"`
}

// Run creates a key.
func (c *keyNewCmd) Run(e *cli.Env) error {
	if c.Name == "" || strings.ContainsFunc(c.Name, notInName) {
		return fmt.Errorf("--name %q: it may have letters, digits and signs, but no blank or +", c.Name)
	}
	private, public, err := sumdb.GenerateKey(rand.Reader, c.Name)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	if err := createFile(c.File, private+"\n", 0o600); err != nil {
		return err
	}
	if err := createFile(c.File+".pub", public+"\n", 0o644); err != nil {
		return errors.Join(err, os.Remove(c.File))
	}
	if e.Out.Document(ShownKey{c.Name, public, c.File}) {
		return nil
	}
	e.Out.Print("made %s, which is secret, and %s.pub:\n%s\n", term.Printable(c.File), term.Printable(c.File), public)
	return nil
}

func notInName(r rune) bool { return r <= ' ' || r > '~' || r == '+' }

// createFile writes a file that must not exist yet.
func createFile(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make a key in %s: there is such a file already, and a key is never overwritten", path)
	}
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("make a key: %w", err), os.Remove(path))
	}
	return nil
}

// Run prints the verifier key.
func (c *keyShowCmd) Run(e *cli.Env) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return fmt.Errorf("read key: %w", err)
	}
	shown := ShownKey{File: c.File, Verifier: strings.TrimSpace(string(text))}
	if strings.HasPrefix(shown.Verifier, "PRIVATE+KEY+") {
		key, err := signer.ParseKey(shown.Verifier)
		if err != nil {
			return fmt.Errorf("read key %s: it is damaged", c.File)
		}
		shown.Name, shown.Verifier = key.Verifier.Name(), key.Public
	} else {
		verifier, err := sumdb.NewVerifier(shown.Verifier)
		if err != nil {
			return fmt.Errorf("read key %s: it holds no key: `hookctl audit key new` makes one", c.File)
		}
		shown.Name = verifier.Name()
	}
	if e.Out.Document(shown) {
		return nil
	}
	e.Out.Print("%s\n", term.Printable(shown.Verifier))
	return nil
}

// signingKey reads a private key.
func signingKey(flag, file string) (*signer.Key, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: there is no file %s: `hookctl audit key new %s --name NAME` makes it", flag, file, file)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", flag, err)
	}
	key, err := signer.ParseKey(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("read %s %s: it holds no private key: `hookctl audit key new` makes one", flag, file)
	}
	return key, nil
}
