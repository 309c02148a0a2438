package embedded_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// An account on hold loses its connection and gets no other, while another account works. When
// the time is over it is served as before.
func TestAnAccountOnHoldIsLetInAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := identity.EnsureServed(filepath.Join(dir, "auth"), "test")
	if err != nil {
		t.Fatal(err)
	}
	creds, accounts := map[string]string{}, map[string]string{}
	for _, name := range []string{"loud", "quiet"} {
		i, err := a.Add(identity.Identity{Name: name, Role: identity.Agent})
		if err != nil {
			t.Fatal(err)
		}
		creds[name], accounts[name] = a.CredsFile(i), i.Account
	}
	files := a.Files()
	s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: dir, NoSync: true, Auth: embedded.Auth{OperatorJWT: files.Operator, Accounts: files.Accounts, Routers: files.Routers, State: files.State}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	token, seed, err := a.RouterCredentials()
	if err != nil {
		t.Fatal(err)
	}
	router := natstest.Dial(t, "", nats.InProcessServer(s), nats.UserJWTAndSeed(token, seed), nats.CustomInboxPrefix("_INBOX_router"))
	if _, err := router.Subscribe("test.from.*.execute.>", func(m *nats.Msg) {
		_ = router.Publish("test.to."+strings.Split(m.Subject, ".")[2]+"."+m.Reply, []byte("answered"))
	}); err != nil {
		t.Fatal(err)
	}
	if err := router.Flush(); err != nil {
		t.Fatal(err)
	}
	connect := func(name string, o ...nats.Option) (*nats.Conn, error) {
		return nats.Connect(s.ClientURL(), append(o, nats.UserCredentials(creds[name]), nats.NoReconnect())...)
	}
	served := func(nc *nats.Conn) bool {
		ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
		defer cancel()
		m, err := nc.RequestWithContext(ctx, "test.execute.tool.pre", nil)
		return err == nil && string(m.Data) == "answered"
	}
	closed := make(chan struct{})
	loud, err := connect("loud", nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(loud.Close)
	quiet, err := connect("quiet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(quiet.Close)
	if !served(loud) || !served(quiet) {
		t.Fatal("not served before")
	}
	if err := s.Hold(embedded.Sender{Account: accounts["loud"]}, 200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	testkit.Closed(t, "the connection to end", closed)
	if nc, err := connect("loud"); err == nil {
		nc.Close()
		t.Error("it connects again while it is on hold")
	}
	if !served(quiet) {
		t.Error("the other account is not served")
	}
	testkit.Eventually(t, "it to be let in again", func() bool {
		again, err := connect("loud")
		if err != nil {
			return false
		}
		defer again.Close()
		return served(again)
	})
}
