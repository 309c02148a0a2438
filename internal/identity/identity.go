package identity

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// Identity is one agent, person or program. Nothing in it is secret.
type Identity struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Hooks are the ids that a worker answers for; "*" means all.
	Hooks []string `json:"hooks,omitempty"`
	// May limits what a worker's hooks register and answer; nil means no limit.
	May *Limits `json:"may,omitempty"`
	// Witness is the token of a witness's key in the subject of its signatures.
	Witness string `json:"witness,omitempty"`
	// Streams reports that a router's credentials permit the subjects of agents' streams.
	Streams bool `json:"streams,omitempty"`
	// Account is the public key of the account; User that of the credentials in force.
	Account string    `json:"account"`
	User    string    `json:"user"`
	Created time.Time `json:"created"`
	// Expires is when the credentials end; zero means never.
	Expires time.Time `json:"expires,omitzero"`
	// Revoked is when the identity was revoked; zero means it was not.
	Revoked time.Time `json:"revoked,omitzero"`
	// Former are the public keys of credentials that ended, and when they did.
	Former map[string]time.Time `json:"former,omitempty"`
	// HTTP describes the token of an agent for the HTTP API; nil if it has none.
	HTTP *HTTPAccess `json:"http,omitempty"`

	token string // set only right after it was made
}

// HTTPAccess describes a token. Its digest is in [TokensFile].
type HTTPAccess struct {
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero means never
}

// Token returns the token for the HTTP API that was just made with this identity; empty for none. It
// is not stored.
func (i Identity) Token() string { return i.token }

// Label returns the name that records and people use for the identity, such as "agent/coder".
func (i Identity) Label() string { return string(i.Role) + "/" + i.Name }

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// validToken is one token of a subject.
var validToken = regexp.MustCompile(`^[^\s.*>]{1,300}$`)

// Check reports what is wrong with a requested identity.
func (i Identity) Check() error {
	switch {
	case !validName.MatchString(i.Name):
		return fmt.Errorf("identity %q: a name has lower-case letters, digits, - and _, at most 63, and begins with a letter or a digit", i.Name)
	case !slices.Contains(roles, i.Role):
		return fmt.Errorf("identity %q: role %q is unknown: use one of %q", i.Name, i.Role, roles)
	case i.Role != Worker && (len(i.Hooks) > 0 || i.May != nil):
		return fmt.Errorf("identity %q: only a worker answers for hooks, not the role %s", i.Name, i.Role)
	case (i.Role == Witness) != (i.Witness != ""):
		return fmt.Errorf("identity %q: a witness needs a signing key, and no other role may have one", i.Name)
	case i.Role == Witness && !validToken.MatchString(i.Witness):
		return fmt.Errorf("identity %q: the key's token %q is not a valid token of a subject", i.Name, i.Witness)
	case i.Role != Agent && i.HTTP != nil:
		return fmt.Errorf("identity %q: only an agent has a token for the HTTP API, not the role %s", i.Name, i.Role)
	case i.Role == Worker && len(i.Hooks) == 0:
		return fmt.Errorf("identity %q: name the hooks that the worker answers for", i.Name)
	}
	for _, id := range i.Hooks {
		if err := events.CheckHookID(id); err != nil && id != "*" {
			return fmt.Errorf("identity %q: %w", i.Name, err)
		}
	}
	return i.May.check()
}

// Inbox returns the prefix of the subjects on which the identity gets replies. An identity with an
// account of its own uses the default.
func (i Identity) Inbox() string {
	switch {
	case i.Role.hasAccount():
		return "_INBOX"
	case i.Role == Router:
		return "_INBOX_router"
	}
	return "_INBOX." + string(i.Role) + "." + i.Name
}
