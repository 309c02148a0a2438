package natsx

import (
	"cmp"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natscreds"
)

// identify finds credentials for the role if none were given, and sets the inbox that the
// credentials allow.
func (o *Options) identify() error {
	if o.InProcess != nil {
		return nil
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Role != "" && o.anonymous() {
		found, ok, err := natscontext.Find(o.Getenv, o.URL, o.Role)
		if err != nil {
			return err
		}
		if ok {
			o.Creds = found.Creds
		}
	}
	if o.Creds != "" {
		claims := natscreds.ClaimsOf(o.Creds)
		o.Inbox, o.server = cmp.Or(o.Inbox, claims.Inbox()), claims.Router()
	}
	return nil
}

// anonymous reports whether the options contain no credentials.
func (o *Options) anonymous() bool {
	if o.Creds != "" || strings.Contains(o.URL, "@") {
		return false
	}
	var set nats.Options
	for _, option := range o.NATS {
		if option(&set) != nil {
			return false // connecting reports it
		}
	}
	return set.User == "" && set.Token == "" && set.Nkey == "" && set.UserJWT == nil && set.TLSConfig == nil
}
