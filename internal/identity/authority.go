package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nkeys"
)

// The accounts that several identities share.
const (
	routersAccount = "HOOKS"
	stateAccount   = "HOOKSTATE"
	auditAccount   = "AUDIT" // made with the first auditor, witness or archive
	systemAccount  = "SYS"
)

// ErrNoAuthority means that a directory contains no authority.
var ErrNoAuthority = errors.New("there are no keys")

// Authority makes credentials. Its directory contains:
//
//	operator.nk      the operator's key, from which every other can be made
//	keys/<account>   the key of each account
//	accounts/*.jwt   what the NATS server knows of each account
//	creds/*.creds    the credentials of each identity
//	server.nk        the key of the router that runs the NATS server, if one does
//	tokens.json      the digests of tokens for the HTTP API
//	identities.json  all identities; not secret
//
// An Authority is for one goroutine. [Change] locks out other processes.
type Authority struct {
	dir      string
	operator nkeys.KeyPair
	state    state
	tokens   tokens
	signed   map[string]string // by public key: the account as it was last read or signed, in JSON
	changed  map[string]bool   // public keys of accounts that were signed since a was opened
}

// state is identities.json.
type state struct {
	Prefix     string            `json:"prefix"`
	Operator   string            `json:"operator"`
	Accounts   map[string]string `json:"accounts"` // shared accounts: public keys by name
	Identities []Identity        `json:"identities"`
}

// Init makes an authority for the subjects of a prefix in a directory that has none. It creates the
// directory if missing; only its owner may read it.
func Init(dir, prefix string) (*Authority, error) {
	if _, err := os.Stat(filepath.Join(dir, DirectoryFile)); err == nil {
		return nil, fmt.Errorf("%s has keys already: choose another directory", dir)
	}
	a := &Authority{dir: dir, state: state{Prefix: prefix, Accounts: map[string]string{}}, tokens: tokens{}, signed: map[string]string{}, changed: map[string]bool{}}
	for _, sub := range []string{"", "keys", "accounts", "creds"} {
		if err := makeOwn(filepath.Join(dir, sub)); err != nil {
			return nil, err
		}
	}
	var err error
	if a.operator, err = nkeys.CreateOperator(); err != nil {
		return nil, err
	}
	if a.state.Operator, err = a.operator.PublicKey(); err != nil {
		return nil, err
	}
	for _, name := range []string{systemAccount, routersAccount, stateAccount} {
		if a.state.Accounts[name], err = a.newAccount(name); err != nil {
			return nil, err
		}
	}
	if err := a.signOperator(); err != nil {
		return nil, err
	}
	err = a.save()
	return a, err
}

// Open opens the authority in a directory, which must be this user's or root's. The error wraps
// [ErrNoAuthority] if there is none.
func Open(dir string) (*Authority, error) {
	a := &Authority{dir: dir, signed: map[string]string{}, changed: map[string]bool{}}
	text, err := os.ReadFile(filepath.Join(dir, DirectoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNoAuthority, dir)
	}
	if err == nil {
		err = errors.Join(checkOwner(dir), json.Unmarshal(text, &a.state))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, DirectoryFile), err)
	}
	if a.tokens, err = readTokens(dir); err != nil {
		return nil, err
	}
	if a.operator, err = a.key("operator.nk"); err != nil {
		return nil, err
	}
	return a, nil
}

// Change opens the authority and changes it, under a lock that excludes other processes.
func Change(dir string, change func(*Authority) error) error {
	if _, err := Open(dir); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	defer func() { _ = lock.Close() }()
	if err := giveToOwner(lock.Path()); err != nil {
		return err
	}
	a, err := Open(dir)
	if err != nil {
		return err
	}
	return change(a)
}

// Dir returns the directory of the authority.
func (a *Authority) Dir() string { return a.dir }

// Prefix returns the first token of the subjects.
func (a *Authority) Prefix() string { return a.state.Prefix }

// Identities returns all identities, sorted by name.
func (a *Authority) Identities() []Identity {
	list := slices.Clone(a.state.Identities)
	slices.SortFunc(list, func(x, y Identity) int { return strings.Compare(x.Name, y.Name) })
	return list
}

// Add makes credentials for a new identity. A zero Expires means that they never expire.
func (a *Authority) Add(i Identity) (Identity, error) {
	i, err := a.enroll(i)
	if err != nil {
		return i, err
	}
	added := a.find(i.Name)
	err = a.issue(added)
	return *added, err
}

// enroll adds an identity that has no credentials yet.
func (a *Authority) enroll(i Identity) (Identity, error) {
	if err := i.Check(); err != nil {
		return i, err
	}
	if old := a.find(i.Name); old != nil {
		return i, fmt.Errorf("identity %q exists, with the role %s: choose another name, or rotate its credentials", i.Name, old.Role)
	}
	i.Created = time.Now().UTC().Truncate(time.Second)
	switch {
	case i.Role.hasAccount():
		account, err := a.newAccount(accountName(i))
		if err != nil {
			return i, err
		}
		i.Account = account
	case i.Role == State:
		i.Account = a.state.Accounts[stateAccount]
	case i.Role.audits():
		if a.state.Accounts[auditAccount] == "" {
			account, err := a.newAccount(auditAccount)
			if err != nil {
				return i, err
			}
			a.state.Accounts[auditAccount] = account
		}
		i.Account = a.state.Accounts[auditAccount]
	case i.Role == System:
		i.Account = a.state.Accounts[systemAccount]
	default:
		i.Account = a.state.Accounts[routersAccount]
	}
	a.state.Identities = append(a.state.Identities, i)
	return i, nil
}

// issue makes credentials, and saves the identity for routers and the NATS server.
func (a *Authority) issue(i *Identity) error {
	creds, user, err := a.credentials(*i, a.permissions(*i))
	if err != nil {
		return err
	}
	i.User, i.Streams = user, i.Role == Router
	if err := a.save(); err != nil { // routers must know the identity before anybody can use it
		return err
	}
	return writeFile(a.CredsFile(*i), creds, 0o600)
}

// CredsFile returns the path of the credentials of an identity.
func (a *Authority) CredsFile(i Identity) string {
	return filepath.Join(a.dir, "creds", i.Name+".creds")
}

// save writes identities.json, the digests of tokens and the JWT of each account.
func (a *Authority) save() error {
	text, err := json.MarshalIndent(a.state, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(a.dir, DirectoryFile), append(text, '\n'), 0o644); err != nil {
		return err
	}
	if err := a.tokens.write(a.dir); err != nil {
		return err
	}
	accounts := a.accounts()
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		if err := a.signAccount(name, accounts[name]); err != nil {
			return err
		}
	}
	return nil
}

func (a *Authority) find(name string) *Identity {
	for i := range a.state.Identities {
		if a.state.Identities[i].Name == name {
			return &a.state.Identities[i]
		}
	}
	return nil
}

func (a *Authority) mustFind(name string) (*Identity, error) {
	if i := a.find(name); i != nil {
		return i, nil
	}
	return nil, fmt.Errorf("there is no identity %q: see hookctl auth list", name)
}
