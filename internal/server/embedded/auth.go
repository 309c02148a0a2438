package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
)

// Auth configures who may connect. The zero Auth lets anybody connect.
type Auth struct {
	// OperatorJWT is the path of the operator's JWT; empty means no authentication.
	OperatorJWT string
	// Accounts is the directory with a JWT for each account. The server also stores new accounts
	// there.
	Accounts string
	// Routers and State are the public keys of the accounts that own streams.
	Routers, State string
}

// globalAccount owns the streams of a server without authentication.
const globalAccount = "$G"

// stateStream is the suffix of the stream that belongs to the account State.
const stateStream = "_hookstate"

func (a Auth) set(options *server.Options) error {
	if a.OperatorJWT == "" {
		return nil
	}
	text, err := os.ReadFile(a.OperatorJWT)
	if err != nil {
		return fmt.Errorf("read the operator's JWT: %w", err)
	}
	operator, err := jwt.DecodeOperatorClaims(string(text))
	if err != nil {
		return fmt.Errorf("read %s: %w", a.OperatorJWT, err)
	}
	accounts, err := server.NewDirAccResolver(a.Accounts, 0, 0, server.NoDelete)
	if err != nil {
		return fmt.Errorf("open the accounts in %s: %w", a.Accounts, err)
	}
	options.TrustedOperators = []*jwt.OperatorClaims{operator}
	options.SystemAccount = operator.SystemAccount
	options.AccountResolver = accounts
	return nil
}

// moveStreams moves the streams of a store to the accounts in the current configuration, so that
// authentication can be turned on or off.
func (a Auth) moveStreams(store string) error {
	dir := func(account string) string { return filepath.Join(store, "jetstream", account, "streams") }
	if a.OperatorJWT == "" {
		accounts, err := filepath.Glob(filepath.Join(store, "jetstream", "A*", "streams"))
		for _, from := range accounts {
			err = errors.Join(err, moveAll(from, func(string) string { return dir(globalAccount) }))
		}
		return err
	}
	return moveAll(dir(globalAccount), func(stream string) string {
		if matched, _ := filepath.Match("KV_*"+stateStream, stream); matched {
			return dir(a.State)
		}
		return dir(a.Routers)
	})
}

// isMirror reports whether a directory holds a mirror stream, which belongs to an auditor and is
// not moved.
func isMirror(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "meta.inf"))
	if err != nil {
		return false
	}
	var stream struct {
		Mirror *struct{} `json:"mirror"`
	}
	return json.Unmarshal(text, &stream) == nil && stream.Mirror != nil
}

// moveAll moves the streams of a directory to where they belong.
func moveAll(from string, to func(stream string) string) error {
	streams, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, stream := range streams {
		if isMirror(filepath.Join(from, stream.Name())) { // it has the name of the mirrored stream
			continue
		}
		target := to(stream.Name())
		err = errors.Join(err, os.MkdirAll(target, 0o750))
		if _, missing := os.Stat(filepath.Join(target, stream.Name())); errors.Is(missing, fs.ErrNotExist) {
			err = errors.Join(err, os.Rename(filepath.Join(from, stream.Name()), filepath.Join(target, stream.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("move the streams in %s: %w", from, err)
	}
	return nil
}
