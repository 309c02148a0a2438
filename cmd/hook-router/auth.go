package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/identity"
)

// embeddedFlags are the flags that apply to the embedded NATS server only.
var embeddedFlags = []string{"nats-listen", "nats-tls-cert", "nats-tls-key", "auth", "auth-dir", "store-dir"}

// embeddedFlag returns the first of [embeddedFlags] that was given; empty for none.
func embeddedFlag(command *kong.Context) string {
	for _, p := range command.Path {
		if p.Flag != nil && slices.Contains(embeddedFlags, p.Flag.Name) {
			return p.Flag.Name
		}
	}
	return ""
}

// checkAuth returns an error for flags that would permit unauthenticated access or contradict each
// other.
func (s serve) checkAuth() error {
	switch {
	case (s.AgentCert == "") != (s.AgentKey == ""):
		return errors.New("--agent-http-tls-cert and --agent-http-tls-key belong together: give both")
	case s.AgentListen != "" && !loopback(s.AgentListen) && s.AgentCert == "":
		return fmt.Errorf("--agent-http-listen %s is beyond loopback: give --agent-http-tls-cert and --agent-http-tls-key", s.AgentListen)
	case s.NATSURL == "" && s.Identities != "":
		return errors.New("--identities is for --nats-url: the embedded NATS server has those of --auth-dir")
	case s.NATSURL != "" && s.Identities != "" && s.NATSAccounts:
		return errors.New("--identities and --nats-accounts are two ways to tell who sends: leave one of them out")
	case s.NATSURL != "":
		return nil
	case (s.NATSCert == "") != (s.NATSKey == ""):
		return errors.New("--nats-tls-cert and --nats-tls-key belong together: give both")
	case !loopback(s.NATSListen) && s.Auth == "off":
		return fmt.Errorf("--auth=off lets in whoever reaches %s: listen on loopback, or leave --auth=off out", s.NATSListen)
	case !loopback(s.NATSListen) && s.NATSCert == "":
		return fmt.Errorf("--nats-listen %s is beyond loopback: give --nats-tls-cert and --nats-tls-key, or join a server with --nats-url", s.NATSListen)
	}
	return nil
}

// authDir returns the directory of the embedded server's credentials; empty if it requires none.
func (s serve) authDir() string {
	if s.NATSURL != "" || s.Auth == "off" {
		return ""
	}
	return cmp.Or(s.AuthDir, filepath.Join(s.StoreDir, "auth"))
}

// proves reports whether connections are authenticated.
func (s serve) proves() bool { return s.NATSAccounts || s.Identities != "" || s.authDir() != "" }

// identities returns the identities of a joined server; nil for none.
func (s serve) identities(log *slog.Logger) (*identity.File, error) {
	if s.NATSURL == "" && s.Auth == "off" {
		log.Warn("authentication is off: whoever reaches the embedded NATS server can register hooks, emit, answer approval requests and delete the audit log. "+
			"Use --auth=off for trials only", "nats_listen", s.NATSListen)
	}
	if s.Identities == "" {
		return nil, nil
	}
	return identity.OpenFile(s.Identities, log)
}
