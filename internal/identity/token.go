package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// TokensFile is the name of the file with the digests of the tokens for the HTTP API, in the directory
// of [DirectoryFile]. If it is missing, there are no tokens.
const TokensFile = "tokens.json"

// tokenPrefix lets people and secret scanners recognize a token.
const tokenPrefix = "hrt_"

// tokens are the digests of tokens, SHA-256 in hex, by the name of the agent.
type tokens map[string]string

// readTokens reads the file in a directory.
func readTokens(dir string) (tokens, error) {
	text, err := os.ReadFile(filepath.Join(dir, TokensFile))
	if errors.Is(err, fs.ErrNotExist) {
		return tokens{}, nil
	}
	all := tokens{}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the tokens of the HTTP API: %w", err)
	}
	return all, nil
}

// write writes the file, unless there never was a token.
func (t tokens) write(dir string) error {
	path := filepath.Join(dir, TokensFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && len(t) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, append(text, '\n'), 0o600)
}

// digest returns the stored form of a token. A token has 256 random bits, so it can't be guessed.
func digest(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// AddToken makes a token for the HTTP API for the named agent, and adds a missing agent, without
// credentials for NATS. A zero expires means that the token never ends. [Identity.Token] of the
// result is the only copy of the token.
func (a *Authority) AddToken(name string, expires time.Time) (Identity, error) {
	i := a.find(name)
	switch {
	case i == nil:
		if _, err := a.enroll(Identity{Name: name, Role: Agent}); err != nil {
			return Identity{}, err
		}
		i = a.find(name)
	case i.Role != Agent:
		return *i, fmt.Errorf("identity %q has the role %s: only an agent has a token for the HTTP API", name, i.Role)
	case !i.Revoked.IsZero():
		return *i, fmt.Errorf("identity %q was revoked: hookctl auth rotate gives it new credentials", name)
	case i.HTTP != nil:
		return *i, fmt.Errorf("identity %q has a token: hookctl auth rotate makes a new one", name)
	}
	return a.issueToken(i, expires)
}

func (a *Authority) issueToken(i *Identity, expires time.Time) (Identity, error) {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	token := tokenPrefix + base64.RawURLEncoding.EncodeToString(bits)
	sum := digest(token)
	i.HTTP = &HTTPAccess{Created: time.Now().UTC().Truncate(time.Second), Expires: expires}
	a.tokens[i.Name] = hex.EncodeToString(sum[:])
	if err := a.save(); err != nil {
		return *i, err
	}
	made := *i
	made.token = token
	return made, nil
}

// bearer is the owner of a token.
type bearer struct {
	label string
	until []time.Time // the first of them ends the token; zero for never
}

// admit assigns the digests of tokens to their agents.
func (d *directory) admit(list []Identity, digests tokens) error {
	d.bearers = map[[sha256.Size]byte]bearer{}
	for _, i := range list {
		text, ok := digests[i.Name]
		if !ok || i.HTTP == nil || !i.Revoked.IsZero() {
			continue
		}
		var sum [sha256.Size]byte
		if n, err := hex.Decode(sum[:], []byte(text)); err != nil || n != len(sum) {
			return fmt.Errorf("%s: the digest of %s is malformed", TokensFile, i.Name)
		}
		d.bearers[sum] = bearer{i.Label(), []time.Time{i.Expires, i.HTTP.Expires}}
	}
	return nil
}

// Bearer returns the label of the agent with a token; ok is false if no agent has it.
func (d *directory) Bearer(token string, now time.Time) (label string, ok bool) {
	b, ok := d.bearers[digest(token)] // the time that this takes reveals only the digest
	for _, end := range b.until {
		ok = ok && (end.IsZero() || now.Before(end))
	}
	if !ok {
		return "", false
	}
	return b.label, true
}

// Bearers returns the number of tokens.
func (d *directory) Bearers() int { return len(d.bearers) }
