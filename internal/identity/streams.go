package identity

import (
	"os"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
)

// Requests of agents, and the replies to them, cross accounts as streams, which cost the server no
// more than a message within one account. For a request through a service import it makes a reply
// subject and a header, which takes as long as a hook call. With streams, the subject proves the
// sender: routers receive <prefix>.from.<account>.<rest>, and what they send to
// <prefix>.to.<account>.<inbox> reaches no other account.

// streams reports whether the accounts of agents use streams. They do if a router runs the NATS server,
// and no other router has credentials from before, which do not permit the subjects. In a cluster, a
// request could overtake the subscription to its reply: each account has a route of its own.
func (a *Authority) streams() bool {
	if _, err := os.Stat(filepath.Join(a.dir, serverKey)); err != nil {
		return false
	}
	for _, i := range a.state.Identities {
		if i.Role == Router && i.Revoked.IsZero() && !i.Streams {
			return false
		}
	}
	return true
}

// fillAgent sets what the account of an agent exports to the routers and imports from them.
func (a *Authority) fillAgent(claims *jwt.AccountClaims) {
	if !a.streams() {
		claims.Imports = a.imports(Agent)
		return
	}
	requests := jwt.Subject(a.state.Prefix + ".>") // the permissions of the agent narrow it
	claims.Exports.Add(&jwt.Export{Name: "requests", Subject: requests, Type: jwt.Stream})
	claims.Imports.Add(&jwt.Import{
		Name: "replies", Subject: jwt.Subject(a.state.Prefix + ".to." + claims.Subject + "._INBOX.>"), LocalSubject: "_INBOX.>",
		Account: a.state.Accounts[routersAccount], Type: jwt.Stream,
	})
}

// addStreams lets the routers' account exchange messages with the accounts of agents.
func (a *Authority) addStreams(claims *jwt.AccountClaims) {
	if !a.streams() {
		return
	}
	claims.Exports.Add(&jwt.Export{
		Name: "replies", Subject: jwt.Subject(a.state.Prefix + ".to.*.>"), Type: jwt.Stream, AccountTokenPosition: 3,
	})
	for _, i := range a.state.Identities {
		if i.Role != Agent {
			continue
		}
		claims.Imports.Add(&jwt.Import{
			Name: i.Name, Subject: jwt.Subject(a.state.Prefix + ".>"), LocalSubject: jwt.RenamingSubject(a.state.Prefix + ".from." + i.Account + ".>"),
			Account: i.Account, Type: jwt.Stream,
		})
	}
}
