package natsx

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natscontext"
)

// identify finds credentials for a role where none were given, and the inbox that
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
		claims := claimsOf(o.Creds)
		o.Inbox, o.server = cmp.Or(o.Inbox, claims.inbox()), claims.server()
	}
	return nil
}

// anonymous reports whether nothing proves an identity to the server yet.
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

// userClaims are what a client needs of its own credentials.
type userClaims struct {
	NATS struct {
		Tags []string `json:"tags"`
		Sub  struct {
			Allow []string `json:"allow"`
		} `json:"sub"`
	} `json:"nats"`
}

// inbox is the inbox prefix that credentials permit; empty for any.
func (c userClaims) inbox() string {
	for _, subject := range c.NATS.Sub.Allow {
		if prefix, ok := strings.CutSuffix(subject, ".>"); ok && strings.HasPrefix(prefix, nats.InboxPrefix[:6]) {
			return prefix
		}
	}
	return ""
}

// ServerTag precedes the public key of a router among the tags of a user's JWT, which are
// in lower case.
const ServerTag = "router:"

// server is the public key of the router that credentials name; empty for none.
func (c userClaims) server() string {
	for _, tag := range c.NATS.Tags {
		if public, ok := strings.CutPrefix(tag, ServerTag); ok {
			return strings.ToUpper(public)
		}
	}
	return ""
}

// claimsOf reads a credentials file; nothing where that fails: connecting says why.
func claimsOf(creds string) (claims userClaims) {
	token, err := readCredentials(creds, "USER JWT")
	if err != nil {
		return claims
	}
	parts := strings.Split(string(token), ".")
	if len(parts) != 3 {
		return claims
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return userClaims{}
	}
	return claims
}
