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
	if anonymous, embedded := o.anonymous(); anonymous {
		if o.CredsFromEnv && !embedded {
			o.Creds = o.Getenv("NATS_CREDS")
		}
		if o.Creds == "" && o.Role != "" {
			found, _, err := natscontext.Find(o.Getenv, o.URL, o.Role)
			if err != nil {
				return err
			}
			o.Creds = found.Creds
		}
	}
	if o.Creds != "" {
		claims := natscreds.ClaimsOf(o.Creds)
		o.Inbox, o.server = cmp.Or(o.Inbox, claims.Inbox()), claims.Router()
	}
	return nil
}

// anonymous reports whether the options contain no credentials, and whether the server is embedded.
func (o *Options) anonymous() (yes, embedded bool) {
	if o.Creds != "" || strings.Contains(o.URL, "@") {
		return false, false
	}
	var set nats.Options
	for _, option := range o.NATS {
		if option(&set) != nil {
			return false, false // connecting reports it
		}
	}
	yes = set.User == "" && set.Token == "" && set.Nkey == "" && set.UserJWT == nil && set.TLSConfig == nil
	return yes, set.InProcessServer != nil
}
