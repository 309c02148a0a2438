package embedded_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// workers is a server with a router and the workers "loud" and "busy", who share its account.
type workers struct {
	*testing.T
	server *embedded.Server
	router *nats.Conn
	creds  map[string]string
	sender map[string]embedded.Sender
}

func newWorkers(t *testing.T) *workers {
	t.Helper()
	dir := t.TempDir()
	a, err := identity.Ensure(filepath.Join(dir, "auth"), "test")
	if err != nil {
		t.Fatal(err)
	}
	w := &workers{T: t, creds: map[string]string{}, sender: map[string]embedded.Sender{}}
	for _, name := range []string{"loud", "busy"} {
		i, err := a.Add(identity.Identity{Name: name, Role: identity.Worker, Hooks: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		w.creds[name], w.sender[name] = a.CredsFile(i), embedded.Sender{Account: i.Account, User: i.User}
	}
	files := a.Files()
	w.server, err = embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: dir, NoSync: true, Auth: embedded.Auth{OperatorJWT: files.Operator, Accounts: files.Accounts, Routers: files.Routers, State: files.State}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.server.Stop)
	token, seed, err := a.RouterCredentials()
	if err != nil {
		t.Fatal(err)
	}
	w.router, err = nats.Connect("", nats.InProcessServer(w.server), nats.UserJWTAndSeed(token, seed), nats.CustomInboxPrefix("_INBOX_router"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.router.Close)
	return w
}

func (w *workers) connect(name string, o ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(w.server.ClientURL(), append(o, nats.UserCredentials(w.creds[name]), nats.NoReconnect())...)
	if err == nil {
		w.Cleanup(nc.Close)
	}
	return nc, err
}

// A worker on hold is refused, and nobody else in the account that workers and routers share. When
// its time ends, another one that is on hold stays there.
func TestHoldAWorker(t *testing.T) {
	t.Parallel()
	w := newWorkers(t)
	closed := make(chan struct{})
	if _, err := w.connect("loud", nats.ClosedHandler(func(*nats.Conn) { close(closed) })); err != nil {
		t.Fatal(err)
	}
	busy, err := w.connect("busy")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.server.Hold(w.sender["loud"], 500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	testkit.Closed(t, "the connection to end", closed)
	if _, err := w.connect("loud"); err == nil {
		t.Error("it connects again while it is on hold")
	}
	if busy.Flush() != nil || w.router.Flush() != nil {
		t.Error("somebody else is disconnected")
	}
	if err := w.server.Hold(w.sender["busy"], time.Hour); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it to be let in again", func() bool { _, err := w.connect("loud"); return err == nil })
	if _, err := w.connect("busy"); err == nil {
		t.Error("the other worker is let in too early")
	}
}

// A worker that sends what nobody asked for is loud. One that answers as many calls is not.
func TestAnswersAreNotLoud(t *testing.T) {
	t.Parallel()
	w := newWorkers(t)
	loud, err := w.connect("loud")
	if err != nil {
		t.Fatal(err)
	}
	busy, err := w.connect("busy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := busy.Subscribe("test.call.busy", func(m *nats.Msg) { _ = m.Respond(nil) }); err != nil {
		t.Fatal(err)
	}
	if err := busy.Flush(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			_ = loud.Publish("test.register.loud", nil)
			_ = w.router.PublishRequest("test.call.busy", "_INBOX_router.x", nil)
			if n%500 == 0 {
				_ = w.router.Flush()
			}
		}
	}()
	among := func(who embedded.Sender) bool { return who == w.sender["loud"] || who == w.sender["busy"] }
	testkit.Eventually(t, "the flood to be found", func() bool {
		found := w.server.Loudest(t.Context(), among)
		if slices.Contains(found, w.sender["busy"]) {
			t.Error("who answers calls is loud")
		}
		return slices.Contains(found, w.sender["loud"])
	})
}
