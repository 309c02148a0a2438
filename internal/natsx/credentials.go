package natsx

import (
	"fmt"

	"github.com/cloudflare/circl/sign/ed25519"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/natscreds"
)

// credentialsFile is [nats.UserCredentials] with a signature implementation that saves short-lived
// programs some milliseconds: see docs/adr/0020-ed25519.md. It reads the file for each connect, so
// that rotated credentials are used from the next one.
func credentialsFile(path string) nats.Option {
	return nats.UserJWT(
		func() (string, error) {
			token, err := natscreds.Read(path, natscreds.JWT)
			return string(token), err
		},
		func(nonce []byte) ([]byte, error) {
			seed, err := natscreds.Read(path, natscreds.Seed)
			if err != nil {
				return nil, err
			}
			defer natscreds.Wipe(seed)
			_, raw, err := nkeys.DecodeSeed(seed)
			if err != nil {
				return nil, fmt.Errorf("read the key in %s: %w: %w", path, natscreds.ErrFormat, err)
			}
			defer natscreds.Wipe(raw)
			return ed25519.Sign(ed25519.NewKeyFromSeed(raw), nonce), nil
		},
	)
}
