// Package natscreds reads NATS credentials files. It does not link a NATS client, for programs that
// run for milliseconds. See docs/adr/0020-ed25519.md.
package natscreds

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cloudflare/circl/sign/ed25519"
)

// The labels of the blocks of a credentials file.
const (
	JWT  = "USER JWT"
	Seed = "NKEY SEED"
)

// ErrFormat means that a file is not a credentials file.
var ErrFormat = errors.New("malformed")

// Read returns the content of the block with a label in a credentials file.
func Read(path, label string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer Wipe(text)
	found, err := block(text, label)
	if err != nil {
		return nil, fmt.Errorf("read credentials %s: %w", path, err)
	}
	return bytes.Clone(found), nil
}

func block(text []byte, label string) ([]byte, error) {
	for line := range bytes.Lines(text) {
		text = text[len(line):]
		line = bytes.TrimSpace(line)
		name, begins := bytes.CutPrefix(bytes.Trim(line, "-"), []byte("BEGIN "))
		if !begins || !bytes.HasPrefix(line, []byte("---")) || !bytes.HasSuffix(name, []byte(label)) {
			continue
		}
		if held := heldLine(text); held != nil {
			return held, nil
		}
		break
	}
	return nil, fmt.Errorf("%w: it has no %s as `hookctl auth` and `nsc` write it", ErrFormat, label)
}

// heldLine returns the content of a block, which is a single line before the line that ends the
// block; nil if the block is malformed. A JWT may contain dashes, but does not start with them.
func heldLine(text []byte) (held []byte) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		switch ends := bytes.HasPrefix(line, []byte("---")); {
		case ends:
			return held
		case len(line) > 0 && held != nil, bytes.ContainsAny(line, " \t"):
			return nil
		case len(line) > 0:
			held = line
		}
	}
	return nil
}

// Claims are the claims of credentials that a client needs. The zero Claims permit any inbox and
// name no router.
type Claims struct {
	NATS struct {
		Tags []string `json:"tags"`
		Sub  struct {
			Allow []string `json:"allow"`
		} `json:"sub"`
	} `json:"nats"`
}

// Inbox returns the inbox prefix that the credentials permit; empty for any.
func (c Claims) Inbox() string {
	for _, subject := range c.NATS.Sub.Allow {
		if prefix, ok := strings.CutSuffix(subject, ".>"); ok && strings.HasPrefix(prefix, "_INBOX") {
			return prefix
		}
	}
	return ""
}

// ServerTag is the prefix of the tag with the router's public key in a user's JWT. Tags are in
// lower case.
const ServerTag = "router:"

// Router returns the public key of the router that the credentials name; empty for none.
func (c Claims) Router() string {
	for _, tag := range c.NATS.Tags {
		if public, ok := strings.CutPrefix(tag, ServerTag); ok {
			return strings.ToUpper(public)
		}
	}
	return ""
}

// ClaimsOf returns the claims of a credentials file, or zero Claims if it can't be read: the error
// is reported when the client connects.
func ClaimsOf(creds string) (claims Claims) {
	token, err := Read(creds, JWT)
	if err != nil {
		return claims
	}
	parts := strings.Split(string(token), ".")
	if len(parts) != 3 {
		return claims
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return Claims{}
	}
	return claims
}

// Verified reports whether a NATS public key signed a text. It returns an error if the key is
// invalid.
func Verified(public string, text, signature []byte) (bool, error) {
	const prefix, checksum = 1, 2
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(public)
	if err != nil || len(raw) != prefix+ed25519.PublicKeySize+checksum {
		return false, errors.Join(errors.New("no public key of NATS"), err)
	}
	return ed25519.Verify(raw[prefix:prefix+ed25519.PublicKeySize], text, signature), nil
}

// Wipe overwrites a secret.
func Wipe(secret []byte) {
	for i := range secret {
		secret[i] = 'x'
	}
}
