package server

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/agenthook/supervisor"
	httpapi "github.com/hookrouter/hookrouter/internal/api/http"
	"github.com/hookrouter/hookrouter/internal/identity"
)

// localServer answers the hook-agents of this process's user without a NATS connection for each,
// which takes most of the time of a hook. They act as the default agent, whose credentials this
// user can read.
type localServer struct {
	http *http.Server
	done chan struct{}
}

// newLocalServer starts the server if hook-agents can find it. Without it they use NATS.
func (n *Server) newLocalServer(ctx context.Context, key nkeys.KeyPair) {
	name := supervisor.LocalName(n.ClientURL())
	if name == "" || key == nil {
		return
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", name)
	if err != nil {
		n.log.Debug("hook-agents of this user ask over NATS", "error", err)
		return
	}
	api := httpapi.New(httpapi.Options{Agents: n.router.Agents(), Identities: n.identities, Log: n.log})
	s := &localServer{api.Local(n.defaultAgent, key), make(chan struct{})} //nolint:contextcheck // a chain outlives its client
	n.local = s
	go func() {
		defer close(s.done)
		if err := s.http.Serve(ownListener{l}); !errors.Is(err, http.ErrServerClosed) {
			n.log.Error("serving the hook-agents of this user ended; they ask over NATS", "error", err)
		}
	}()
}

// defaultAgent returns the label of the default agent's identity; ok is false if it has ended.
func (n *Server) defaultAgent() (label string, ok bool) {
	for _, i := range n.authority.Identities() {
		if i.Role == identity.Agent && isDefault(i) {
			label, err := n.identities.Sender(i.Account)
			return label, err == nil
		}
	}
	return "", false
}

// close ends the server once the router's answers have been sent.
func (s *localServer) close(ctx context.Context) {
	shutDown(ctx, s.http)
	<-s.done
}

// ownListener accepts only connections of processes of this process's user.
type ownListener struct{ net.Listener }

// Accept returns the next such connection, and closes others.
func (l ownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || isOwn(c) {
			return c, err
		}
		_ = c.Close()
	}
}
