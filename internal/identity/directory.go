package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// DirectoryFile is the name of the file, in the directory of an authority, from which routers know
// all identities. It contains no secret.
const DirectoryFile = "identities.json"

// directory contains the identities that routers know. It is immutable.
type directory struct {
	senders map[string]string            // labels by the public key of the account
	workers map[string][]Identity        // by the ids that they answer for, "*" included
	users   map[string]string            // labels of workers by their public keys
	bearers map[[sha256.Size]byte]bearer // by the digests of tokens for the HTTP API
	listed  map[string]Identity          // all, by name
	digests tokens
	digest  [sha256.Size]byte // of the file
}

// parseDirectory reads an identities.json, with the digests of its tokens.
func parseDirectory(text []byte, digests tokens) (*directory, error) {
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read the identities: %w", err)
	}
	d := &directory{
		senders: map[string]string{}, workers: map[string][]Identity{}, users: map[string]string{},
		listed: map[string]Identity{}, digests: digests, digest: sha256.Sum256(text),
	}
	for _, i := range s.Identities {
		if err := i.Check(); err != nil {
			return nil, err
		}
		d.listed[i.Name] = i
		switch {
		case !i.Revoked.IsZero():
		case i.Role.hasAccount():
			d.senders[i.Account] = i.Label()
		case i.Role == Worker:
			d.users[i.User] = i.Label()
			for _, hook := range i.Hooks {
				d.workers[hook] = append(d.workers[hook], i)
			}
		}
	}
	err := d.admit(s.Identities, digests)
	return d, err
}

// Digest returns the digest of the identities.json, as "sha256:<hex>".
func (d *directory) Digest() string { return "sha256:" + hex.EncodeToString(d.digest[:]) }

// Sender returns the label of the sender from an account. The error has code 503: a router may
// learn of an identity a moment after it was added.
func (d *directory) Sender(account string) (string, error) {
	if label, ok := d.senders[account]; ok {
		return label, nil
	}
	return "", wire.Errorf(wire.Unavailable, "the router does not know the sender: the identity was revoked, or is not in its identities.json yet")
}

// Worker returns the label of the worker with a public key.
func (d *directory) Worker(user string) (label string, ok bool) {
	label, ok = d.users[user]
	return label, ok
}

// CheckRegistration returns an error with code 403 if no credentials permit the registration.
func (d *directory) CheckRegistration(r chain.Registration) error {
	why := "no worker may answer for it"
	for _, i := range d.answering(r.ID) {
		if why = i.May.registration(r); why == "" {
			return nil
		}
	}
	return wire.Errorf(wire.Forbidden, "hook %q: %s: see hookctl auth list", r.ID, why)
}

// Allows reports whether a hook may answer with an action.
func (d *directory) Allows(hook string, action chain.Action) bool {
	if action == chain.Continue || action == chain.Deny || action == "" {
		return true
	}
	return slices.ContainsFunc(d.answering(hook), func(i Identity) bool {
		return i.May == nil || i.May.Actions == nil || slices.Contains(i.May.Actions, action)
	})
}

// Fields returns the members of an event's data that a hook sees; nil for all.
func (d *directory) Fields(hook string) (fields []string) {
	for _, i := range d.answering(hook) {
		if i.May == nil || len(i.May.Fields) == 0 {
			return nil
		}
		fields = append(fields, i.May.Fields...)
	}
	return fields
}

// answering returns the workers that may answer for a hook: those that name it, or else those that
// may answer for any.
func (d *directory) answering(hook string) []Identity {
	if named := d.workers[hook]; len(named) > 0 {
		return named
	}
	return d.workers["*"]
}
