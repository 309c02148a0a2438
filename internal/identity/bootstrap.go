package identity

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
)

// Defaults are the identities that [Ensure] makes: one for each role that clients look up if they
// were given no credentials.
var Defaults = []Identity{
	{Name: "admin", Role: Admin},
	{Name: "agent", Role: Agent},
	{Name: "worker", Role: Worker, Hooks: []string{"*"}},
	{Name: "state", Role: State},
	{Name: "keeper", Role: Keeper},
	{Name: "system", Role: System},
}

// Ensure opens the authority of a directory, or makes a missing one. It adds missing default
// identities; revoked ones stay revoked.
func Ensure(dir, prefix string) (*Authority, error) { return ensure(dir, prefix, false) }

// EnsureServed is [Ensure] for a router that runs the NATS server itself. New credentials then name
// the router's key: see [Authority.ServerKey].
func EnsureServed(dir, prefix string) (*Authority, error) { return ensure(dir, prefix, true) }

func ensure(dir, prefix string, served bool) (*Authority, error) {
	if _, err := Open(dir); errors.Is(err, ErrNoAuthority) {
		if _, err := Init(dir, prefix); err != nil {
			return nil, err
		}
	}
	var a *Authority
	err := Change(dir, func(opened *Authority) error {
		a = opened
		return a.complete(prefix, served)
	})
	return a, err
}

// complete adds what is missing, and signs accounts as this version of the program makes them.
func (a *Authority) complete(prefix string, served bool) error {
	if a.Prefix() != prefix {
		return fmt.Errorf("the keys in %s are for the prefix %q, not %q: choose another directory with --auth-dir", a.dir, a.Prefix(), prefix)
	}
	if served {
		if err := a.makeServerKey(); err != nil {
			return err
		}
	}
	for _, i := range Defaults {
		if a.find(i.Name) == nil {
			if _, err := a.Add(i); err != nil {
				return err
			}
		}
	}
	return a.save()
}

// Files are the parts of an authority that a NATS server reads.
type Files struct {
	Operator string // path of the operator's JWT
	Accounts string // directory with a JWT for each account
	System   string // public keys of the shared accounts
	Routers  string
	State    string
}

// Files returns what a NATS server reads.
func (a *Authority) Files() Files {
	return Files{
		Operator: filepath.Join(a.dir, "operator.jwt"), Accounts: filepath.Join(a.dir, "accounts"),
		System: a.state.Accounts[systemAccount], Routers: a.state.Accounts[routersAccount], State: a.state.Accounts[stateAccount],
	}
}

// RouterCredentials makes credentials for the router that runs the NATS server itself: a JWT and the
// seed of its key, neither of which is stored. They have no permissions to check for each message:
// those would not restrict a process that holds the operator's key.
func (a *Authority) RouterCredentials() (token, seed string, err error) {
	creds, _, err := a.credentials(Identity{Name: "router", Role: Router, Account: a.state.Accounts[routersAccount]}, jwt.Permissions{})
	if err != nil {
		return "", "", err
	}
	token, err = jwt.ParseDecoratedJWT(creds)
	if err != nil {
		return "", "", err
	}
	key, err := jwt.ParseDecoratedNKey(creds)
	if err != nil {
		return "", "", err
	}
	text, err := key.Seed()
	return token, string(text), err
}
