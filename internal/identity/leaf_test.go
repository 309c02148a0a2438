package identity_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookrouter/hookrouter/internal/identity"
)

// refusals are the errors of a server.
type refusals chan string

func (r refusals) Errorf(format string, args ...any) {
	select {
	case r <- fmt.Sprintf(format, args...):
	default:
	}
}
func (refusals) Noticef(string, ...any) {}
func (refusals) Warnf(string, ...any)   {}
func (refusals) Fatalf(string, ...any)  {}
func (refusals) Debugf(string, ...any)  {}
func (refusals) Tracef(string, ...any)  {}

// A leaf node lets in any number of clients, and none of them needs credentials.
func TestCredentialsMakeNoLeafNode(t *testing.T) {
	t.Parallel()
	a := authority(t, identity.Identity{Name: "coder", Role: identity.Agent})
	text, err := os.ReadFile(a.Files().Operator)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := jwt.DecodeOperatorClaims(string(text))
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := server.NewDirAccResolver(a.Files().Accounts, 0, 0, server.NoDelete)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(refusals, 8)
	hub := startServer(t, refused, &server.Options{
		LeafNode:         server.LeafNodeOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT},
		TrustedOperators: []*jwt.OperatorClaims{operator}, SystemAccount: operator.SystemAccount, AccountResolver: accounts,
	})
	state, err := hub.Varz(nil)
	if err != nil {
		t.Fatal(err)
	}
	remote := &url.URL{Scheme: "nats-leaf", Host: fmt.Sprintf("127.0.0.1:%d", state.LeafNode.Port)}
	startServer(t, nil, &server.Options{LeafNode: server.LeafNodeOpts{Remotes: []*server.RemoteLeafOpts{
		{URLs: []*url.URL{remote}, Credentials: a.CredsFile(identity.Identity{Name: "coder"})},
	}}})
	for end := time.After(5 * time.Second); ; {
		select {
		case text := <-refused:
			if strings.Contains(text, "maximum account active connections") {
				return
			}
		case <-time.After(20 * time.Millisecond):
			if hub.NumLeafNodes() > 0 {
				t.Fatal("an agent's credentials make a leaf node")
			}
		case <-end:
			t.Fatal("nobody refused the leaf node")
		}
	}
}

func startServer(t *testing.T, log server.Logger, o *server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	if log != nil {
		s.SetLoggerV2(log, false, false, false)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(5 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	return s
}
