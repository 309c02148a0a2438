package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Rotate makes new credentials of each kind that an identity has, and ends the old ones. A zero
// expires means that the new ones expire when the old ones would have.
func (a *Authority) Rotate(name string, expires time.Time) (Identity, error) {
	i, err := a.mustFind(name)
	if err != nil {
		return Identity{}, err
	}
	if err := i.extend(expires); err != nil {
		return *i, err
	}
	i.end(time.Now())
	i.Revoked = time.Time{}
	if i.User != "" || i.HTTP == nil {
		if err := a.issue(i); err != nil {
			return *i, err
		}
	}
	if i.HTTP == nil {
		return *i, nil
	}
	return a.issueToken(i, i.HTTP.Expires)
}

// Revoke ends the credentials of an identity. Rotate gives it new ones.
func (a *Authority) Revoke(name string) (Identity, error) {
	i, err := a.mustFind(name)
	if err != nil {
		return Identity{}, err
	}
	if i.Role == System {
		return *i, fmt.Errorf("identity %q sends accounts to the NATS server, which would not learn of its revocation: rotate it instead", name)
	}
	if i.Revoked.IsZero() {
		i.Revoked = time.Now().UTC().Truncate(time.Second)
		i.end(i.Revoked)
		delete(a.tokens, name)
		if err := os.Remove(a.CredsFile(*i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return *i, err
		}
	}
	return *i, a.save()
}

// extend sets when new credentials end; a zero time keeps the present end.
func (i *Identity) extend(expires time.Time) error {
	ends := []*time.Time{&i.Expires}
	if i.HTTP != nil {
		ends = append(ends, &i.HTTP.Expires)
	}
	for _, end := range ends {
		if !expires.IsZero() {
			*end = expires
		}
		if !end.IsZero() && !time.Now().Before(*end) {
			return fmt.Errorf("identity %q expired on %s: set with --expires how long new credentials are valid", i.Name, end.Format(time.DateOnly))
		}
	}
	return nil
}

// end ends the credentials in force.
func (i *Identity) end(now time.Time) {
	if i.Former == nil {
		i.Former = map[string]time.Time{}
	}
	if i.User != "" {
		i.Former[i.User] = now.UTC().Truncate(time.Second)
	}
}
