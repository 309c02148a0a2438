package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Limits of one agent or person on the server.
const (
	maxConnections   = 256
	maxSubscriptions = 4096
)

// farFuture is after the creation of all credentials.
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// accountName returns the name of the account of an agent or a person.
func accountName(i Identity) string { return string(i.Role) + "-" + i.Name }

// accounts returns the public keys of all accounts by name.
func (a *Authority) accounts() map[string]string {
	all := maps.Clone(a.state.Accounts)
	for _, i := range a.state.Identities {
		if i.Role.hasAccount() {
			all[accountName(i)] = i.Account
		}
	}
	return all
}

func (a *Authority) newAccount(name string) (public string, err error) {
	key, err := nkeys.CreateAccount()
	if err != nil {
		return "", err
	}
	if public, err = key.PublicKey(); err != nil {
		return "", err
	}
	seed, err := key.Seed()
	if err != nil {
		return "", err
	}
	return public, writeFile(filepath.Join(a.dir, "keys", name), seed, 0o600)
}

// key reads a key of the directory.
func (a *Authority) key(name string) (nkeys.KeyPair, error) {
	seed, err := os.ReadFile(filepath.Join(a.dir, name))
	if err != nil {
		return nil, err
	}
	key, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(a.dir, name), err)
	}
	return key, nil
}

func (a *Authority) signOperator() error {
	seed, err := a.operator.Seed()
	if err != nil {
		return err
	}
	claims := jwt.NewOperatorClaims(a.state.Operator)
	claims.Name = "hookrouter"
	claims.SystemAccount = a.state.Accounts[systemAccount]
	text, err := claims.Encode(a.operator)
	if err != nil {
		return err
	}
	return errors.Join(writeFile(filepath.Join(a.dir, "operator.nk"), seed, 0o600),
		writeFile(filepath.Join(a.dir, "operator.jwt"), []byte(text), 0o644))
}

// signAccount writes the JWT of an account if it changed.
func (a *Authority) signAccount(name, public string) error {
	claims := jwt.NewAccountClaims(public)
	claims.Name = name
	claims.Limits.DisallowBearer = true
	a.fill(claims, name)
	for _, i := range a.state.Identities {
		if i.Account != public {
			continue
		}
		for user := range i.Former {
			claims.RevokeAt(user, farFuture) // whatever the clock said when they were made
		}
	}
	sort.Sort(claims.Exports) // as they are on disk
	sort.Sort(claims.Imports)
	account, err := json.Marshal(claims.Account)
	if err != nil {
		return fmt.Errorf("account %s: %w", name, err)
	}
	path := filepath.Join(a.dir, "accounts", public+".jwt")
	if a.signed[public] == "" {
		a.signed[public] = onDisk(path, claims)
	}
	if a.signed[public] == string(account) {
		return nil
	}
	text, err := claims.Encode(a.operator)
	if err != nil {
		return fmt.Errorf("account %s: %w", name, err)
	}
	if err := writeFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	a.signed[public], a.changed[public] = string(account), true
	return nil
}

// onDisk returns the account in a file, with the times of now; empty if it can't be read.
func onDisk(path string, now *jwt.AccountClaims) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	was, err := jwt.DecodeAccountClaims(string(text))
	if err != nil {
		return ""
	}
	was.GenericFields = now.GenericFields
	account, err := json.Marshal(was.Account)
	if err != nil {
		return ""
	}
	return string(account)
}

var unlimited = jwt.JetStreamLimits{
	MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit, MaxAckPending: jwt.NoLimit,
}

// fill sets what an account may import, export and store.
func (a *Authority) fill(claims *jwt.AccountClaims, name string) {
	switch name {
	case systemAccount:
	case routersAccount:
		claims.Limits.JetStreamLimits = unlimited
		claims.Exports = a.exports()
		a.addStreams(claims)
	case auditAccount:
		claims.Limits.JetStreamLimits = unlimited
		claims.Imports = a.mirrorImports()
	case stateAccount:
		claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: 1 << 30, Streams: 1, Consumer: jwt.NoLimit, MaxAckPending: jwt.NoLimit}
	default:
		role, _, _ := strings.Cut(name, "-")
		claims.Limits.Conn, claims.Limits.Subs, claims.Limits.LeafNodeConn = maxConnections, maxSubscriptions, 0
		if Role(role) == Agent {
			a.fillAgent(claims)
		} else {
			claims.Imports = a.imports(Role(role))
		}
	}
}

// imports returns the subjects that agents and people use in the routers' account.
func (a *Authority) imports(role Role) jwt.Imports {
	var list jwt.Imports
	r := rightsOf(role, a.state.Prefix, nil)
	add := func(subjects []string, kind jwt.ExportType) {
		for _, s := range subjects {
			list = append(list, &jwt.Import{Name: s, Subject: jwt.Subject(s), Account: a.state.Accounts[routersAccount], Type: kind})
		}
	}
	add(r.publish, jwt.Service)
	add(r.subscribe, jwt.Stream)
	return list
}

// exports returns the subjects of the routers' account that other accounts may import. The operator
// signs the accounts, and so decides which ones import them.
func (a *Authority) exports() jwt.Exports {
	var list jwt.Exports
	all := rightsOf(Admin, a.state.Prefix, nil)
	for _, s := range all.publish {
		e := &jwt.Export{Name: s, Subject: jwt.Subject(s), Type: jwt.Service, ResponseType: jwt.ResponseTypeSingleton}
		if s == "$SRV.>" {
			e.ResponseType = jwt.ResponseTypeStream
		}
		list = append(list, e)
	}
	for _, s := range all.subscribe {
		list = append(list, &jwt.Export{Name: s, Subject: jwt.Subject(s), Type: jwt.Stream})
	}
	if a.state.Accounts[auditAccount] == "" {
		return list
	}
	for _, m := range a.mirrored() {
		list = append(list, &jwt.Export{Name: m.subject, Subject: jwt.Subject(m.subject), Type: m.kind})
	}
	return list
}

// mirrored returns the subjects of the routers' account that mirrors of the audit log need, and the
// subject of signatures; to is the subject in the account of the mirrors, empty for the same.
func (a *Authority) mirrored() []mirrored {
	return []mirrored{
		{"$JS.API.CONSUMER.CREATE.>", "routers.API.CONSUMER.CREATE.>", jwt.Service},
		{"$JS.FC.>", "", jwt.Service},
		{"audit.copy.>", "", jwt.Stream},
		{a.state.Prefix + ".cosigned.>", "", jwt.Service},
	}
}

type mirrored struct {
	subject, to string
	kind        jwt.ExportType
}

func (a *Authority) mirrorImports() (list jwt.Imports) {
	for _, m := range a.mirrored() {
		list = append(list, &jwt.Import{
			Name: m.subject, Subject: jwt.Subject(m.subject), LocalSubject: jwt.RenamingSubject(m.to), Account: a.state.Accounts[routersAccount], Type: m.kind,
		})
	}
	return list
}

// permissions returns what the server lets an identity publish and subscribe to.
func (a *Authority) permissions(i Identity) (p jwt.Permissions) {
	r := rightsOf(i.Role, a.state.Prefix, i.Hooks)
	p.Pub.Allow.Add(r.publish...)
	if i.Role == Witness {
		p.Pub.Allow.Add(a.state.Prefix + ".cosigned.*." + i.Witness)
	}
	p.Sub.Allow.Add(append(r.subscribe, i.Inbox()+".>")...)
	if r.responses {
		p.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: 2 * time.Minute}
	}
	return p
}

// credentials makes a user of an identity's account, and its credentials file.
func (a *Authority) credentials(i Identity, p jwt.Permissions) (creds []byte, user string, err error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	if user, err = key.PublicKey(); err != nil {
		return nil, "", err
	}
	name := routersAccount
	for n, public := range a.accounts() {
		if public == i.Account {
			name = n
		}
	}
	signer, err := a.key(filepath.Join("keys", name))
	if err != nil {
		return nil, "", err
	}
	claims := jwt.NewUserClaims(user)
	claims.Name, claims.Permissions = i.Name, p
	if !i.Expires.IsZero() {
		claims.Expires = i.Expires.Unix()
	}
	if err := a.tagServer(claims, i.Role); err != nil {
		return nil, "", err
	}
	text, err := claims.Encode(signer)
	if err != nil {
		return nil, "", err
	}
	seed, err := key.Seed()
	if err != nil {
		return nil, "", err
	}
	creds, err = jwt.FormatUserConfig(text, seed)
	return creds, user, err
}
