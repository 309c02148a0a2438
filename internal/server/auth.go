package server

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
)

// authorize creates the credentials of an embedded server that requires some, and those of this
// router.
func (n *Server) authorize(o *Options) (auth embedded.Auth, err error) {
	if o.AuthDir == "" {
		return auth, nil
	}
	if n.authority, err = identity.EnsureServed(o.AuthDir, o.NATS.Prefix); err != nil {
		return auth, fmt.Errorf("make the credentials of the embedded NATS server: %w", err)
	}
	if o.NATS.Token, o.NATS.Seed, err = n.authority.RouterCredentials(); err != nil {
		return auth, fmt.Errorf("make the credentials of the router: %w", err)
	}
	if o.Router.ServerKey, err = n.authority.ServerKey(); err != nil {
		return auth, fmt.Errorf("read the key of the router: %w", err)
	}
	files := n.authority.Files()
	return embedded.Auth{OperatorJWT: files.Operator, Accounts: files.Accounts, Routers: files.Routers, State: files.State}, nil
}

// startNATS starts the embedded server with its authentication.
func (n *Server) startNATS(o *Options) error {
	auth, err := n.authorize(o)
	if err != nil {
		return err
	}
	if n.authority != nil {
		n.floods = make(chan string, maxFloods)
	}
	n.server, err = embedded.Start(embedded.Options{
		Listen: o.Listen, Cert: o.Cert, Key: o.Key, StoreDir: o.StoreDir, Auth: auth, Log: o.Log, Flooded: func() { n.flooded("") },
	})
	if err != nil {
		return err
	}
	o.NATS.InProcess = n.server
	o.Router.Replicas = 1
	o.Router.Registry.Listens = func(hook string) bool { return n.server.Listens(n.bus.Call(hook)) }
	if n.authority == nil {
		return nil
	}
	o.Router.Flooded = n.flooded
	n.writeContexts(o.ContextDir)
	if _, port, err := net.SplitHostPort(o.Listen); err == nil && port == "0" {
		n.contexts = o.ContextDir
	}
	n.identities, err = identity.OpenFile(filepath.Join(o.AuthDir, identity.DirectoryFile), o.Log)
	o.Router.Identities = n.identities
	return err
}

// writeContexts lets clients on this machine find the default identities. If that fails they
// need --creds, and the log says so.
func (n *Server) writeContexts(dir string) {
	if n.authority == nil || dir == "" || n.ClientURL() == "" {
		return
	}
	for _, i := range n.authority.Identities() {
		creds, err := filepath.Abs(n.authority.CredsFile(i))
		if err == nil && i.Revoked.IsZero() && isDefault(i) {
			err = natscontext.Write(dir, natscontext.Name(n.ClientURL(), string(i.Role)), natscontext.Context{
				Description: "hookrouter: " + i.Label(), URL: natsx.RedactURL(n.ClientURL()), Creds: creds, InboxPrefix: i.Inbox(),
			})
		}
		if err != nil {
			n.log.Warn("NATS context not written; clients need --creds", "identity", i.Name, "creds", creds, "error", err)
		}
	}
}

// removeContexts removes the contexts of a server on a random port, which the next server does not
// use again.
func (n *Server) removeContexts() {
	if n.contexts == "" {
		return
	}
	for _, i := range n.authority.Identities() {
		if creds, err := filepath.Abs(n.authority.CredsFile(i)); err == nil && isDefault(i) {
			natscontext.Remove(n.contexts, natscontext.Name(n.ClientURL(), string(i.Role)), creds)
		}
	}
}

// isDefault reports whether clients find the identity without flags.
func isDefault(i identity.Identity) bool {
	return slices.ContainsFunc(identity.Defaults, func(d identity.Identity) bool { return d.Name == i.Name })
}
