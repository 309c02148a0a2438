package natsx

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/cloudflare/circl/sign/ed25519"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// credentialsFile is [nats.UserCredentials] with signatures that cost a program of some
// milliseconds less: see docs/adr/0020-ed25519.md. The file is read with each connect, so that
// rotated credentials count from the next one on.
func credentialsFile(path string) nats.Option {
	return nats.UserJWT(
		func() (string, error) {
			token, err := readCredentials(path, "USER JWT")
			return string(token), err
		},
		func(nonce []byte) ([]byte, error) {
			seed, err := readCredentials(path, "NKEY SEED")
			if err != nil {
				return nil, err
			}
			defer wipe(seed)
			_, raw, err := nkeys.DecodeSeed(seed)
			if err != nil {
				return nil, fmt.Errorf("read the key in %s: %w", path, err)
			}
			defer wipe(raw)
			return ed25519.Sign(ed25519.NewKeyFromSeed(raw), nonce), nil
		},
	)
}

// readCredentials reads the block of a credentials file whose first line ends with a label.
func readCredentials(path, label string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer wipe(text)
	block, err := credentialsBlock(text, label)
	if err != nil {
		return nil, fmt.Errorf("read credentials %s: %w", path, err)
	}
	return bytes.Clone(block), nil
}

func credentialsBlock(text []byte, label string) ([]byte, error) {
	for line := range bytes.Lines(text) {
		text = text[len(line):]
		line = bytes.TrimSpace(line)
		name, begins := bytes.CutPrefix(bytes.Trim(line, "-"), []byte("BEGIN "))
		if !begins || !bytes.HasPrefix(line, []byte("---")) || !bytes.HasSuffix(name, []byte(label)) {
			continue
		}
		block, _, ended := bytes.Cut(text, []byte("---"))
		if block = bytes.TrimSpace(block); !ended || len(block) == 0 || bytes.ContainsAny(block, " \t\r\n") {
			break
		}
		return block, nil
	}
	return nil, errors.New("it has no " + label + " as `hookctl auth` and `nsc` write it")
}

// verified reports whether a signature of a text is that of a public key of NATS. The error
// says that the key is none.
func verified(public string, text, signature []byte) (bool, error) {
	key, err := nkeys.Decode(nkeys.Prefix(public), []byte(public))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return false, errors.Join(errors.New("no public key of NATS"), err)
	}
	return ed25519.Verify(key, text, signature), nil
}

func wipe(secret []byte) {
	for i := range secret {
		secret[i] = 'x'
	}
}
