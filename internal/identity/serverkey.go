package identity

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/natscreds"
)

// serverKey is the file with the key of the router that runs the NATS server.
const serverKey = "server.nk"

// makeServerKey creates the key if it is missing.
func (a *Authority) makeServerKey() error {
	if key, err := a.ServerKey(); key != nil || err != nil {
		return err
	}
	key, err := nkeys.CreateServer()
	if err != nil {
		return err
	}
	seed, err := key.Seed()
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(a.dir, serverKey), seed, 0o600)
}

// ServerKey returns the key with which the router that runs the NATS server proves to clients that
// it is the router that their credentials name; nil if the NATS server is a separate one.
func (a *Authority) ServerKey() (nkeys.KeyPair, error) {
	if _, err := os.Stat(filepath.Join(a.dir, serverKey)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return a.key(serverKey)
}

// tagServer names the key of the server in the credentials of agents and people, who check it.
func (a *Authority) tagServer(claims *jwt.UserClaims, role Role) error {
	key, err := a.ServerKey()
	if key == nil || err != nil || !role.hasAccount() {
		return err
	}
	public, err := key.PublicKey()
	if err != nil {
		return err
	}
	claims.Tags.Add(natscreds.ServerTag + public)
	return nil
}
