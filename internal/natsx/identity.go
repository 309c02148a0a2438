package natsx

import (
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
	if o.Creds != "" && o.Inbox == "" {
		o.Inbox = inboxOf(o.Creds)
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

// inboxOf is the inbox prefix that a credentials file permits; "" for any, and where the
// file can't be read: connecting says why.
func inboxOf(creds string) string {
	text, err := os.ReadFile(creds)
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), "-----BEGIN NATS USER JWT-----")
	parts := strings.Split(strings.TrimSpace(rest), ".")
	if len(parts) < 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		NATS struct {
			Sub struct {
				Allow []string `json:"allow"`
			} `json:"sub"`
		} `json:"nats"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	for _, subject := range claims.NATS.Sub.Allow {
		if prefix, ok := strings.CutSuffix(subject, ".>"); ok && strings.HasPrefix(prefix, nats.InboxPrefix[:6]) {
			return prefix
		}
	}
	return ""
}
