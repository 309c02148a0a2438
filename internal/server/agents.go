package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	httpapi "github.com/hookrouter/hookrouter/internal/api/http"
	"github.com/hookrouter/hookrouter/internal/identity"
)

// AgentHTTP configures the HTTP server for agents. It is open while an identity has a token.
type AgentHTTP struct {
	// Listen is host:port; empty disables it.
	Listen string
	// Cert and Key are the paths of a certificate and its key; empty for no TLS.
	Cert, Key string
	// Hosts are additional host names under which it is reachable, besides loopback.
	Hosts []string
}

const (
	tokenInterval = 500 * time.Millisecond // between checks for tokens
	lastAnswers   = 2 * time.Second        // for sent answers to arrive
)

// agentServer serves agents over HTTP while there is a token.
type agentServer struct {
	n          *Server
	o          AgentHTTP
	identities *identity.File
	tls        *tls.Config // nil for none

	mu   sync.Mutex // guards the fields below
	http *http.Server
	addr string
	wg   sync.WaitGroup
}

// newAgentServer makes the server, and opens it if there is a token already.
func (n *Server) newAgentServer(ctx context.Context, o AgentHTTP, identities *identity.File) error {
	if o.Listen == "" || identities == nil {
		return nil
	}
	s := &agentServer{n: n, o: o, identities: identities}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return fmt.Errorf("serve agents over HTTP: %w", err)
		}
		s.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	n.agents = s
	return s.adjust(ctx)
}

// run opens and closes the server as tokens come and go, until ctx ends.
func (s *agentServer) run(ctx context.Context) {
	tick := time.NewTicker(tokenInterval)
	defer tick.Stop()
	failed := false
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := s.adjust(ctx)
		if err != nil && !failed {
			s.n.log.Error("agents are not served over HTTP; trying again", "error", err)
		}
		failed = err != nil
	}
}

// adjust opens or closes the server.
func (s *agentServer) adjust(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch wanted := s.identities.Bearers() > 0; {
	case wanted && s.http == nil:
		return s.open(ctx)
	case !wanted && s.http != nil:
		_ = s.http.Close()
		s.n.log.Info("agents are no longer served over HTTP; no agent has a token", "listen", s.addr)
		s.http, s.addr = nil, ""
	}
	return nil
}

func (s *agentServer) open(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.o.Listen)
	if err != nil {
		return fmt.Errorf("serve agents over HTTP: %w: choose another address with --agent-http-listen", err)
	}
	s.addr = l.Addr().String()
	api := httpapi.New(httpapi.Options{Agents: s.n.router.Agents(), Identities: s.identities, Hosts: s.o.Hosts, Log: s.n.log})
	served := api.HTTP() //nolint:contextcheck // a chain outlives its client
	s.http = served
	s.n.log.Info("serving agents over HTTP", "listen", s.addr, "tls", s.tls != nil)
	served.TLSConfig = s.tls
	s.wg.Go(func() {
		var err error
		if s.tls == nil {
			err = served.Serve(l)
		} else {
			err = served.ServeTLS(l, "", "")
		}
		if !errors.Is(err, http.ErrServerClosed) {
			s.n.log.Error("serving agents over HTTP ended", "error", err)
		}
	})
	return nil
}

// close ends the server once the router's answers have been sent.
func (s *agentServer) close(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil {
		shutDown(ctx, s.http)
		s.http, s.addr = nil, ""
	}
	s.wg.Wait()
}

// shutDown stops a server once its answers have been sent, or after lastAnswers.
func shutDown(ctx context.Context, s *http.Server) {
	ctx, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	if s.Shutdown(ctx) != nil {
		_ = s.Close()
	}
}

// AgentAddr returns the address of the HTTP server for agents; empty if there is none.
func (n *Server) AgentAddr() string {
	if n.agents == nil {
		return ""
	}
	n.agents.mu.Lock()
	defer n.agents.mu.Unlock()
	return n.agents.addr
}
