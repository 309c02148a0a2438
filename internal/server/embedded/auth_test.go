package embedded_test

import (
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
)

// A store that began without credentials goes on with them, and without them again.
func TestTheStoreSurvivesAuthentication(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := identity.Ensure(filepath.Join(dir, "auth"), "test")
	if err != nil {
		t.Fatal(err)
	}
	files := a.Files()
	auth := embedded.Auth{OperatorJWT: files.Operator, Accounts: files.Accounts, Routers: files.Routers, State: files.State}
	token, seed, err := a.RouterCredentials()
	if err != nil {
		t.Fatal(err)
	}
	for round, o := range []embedded.Options{{}, {Auth: auth}, {}, {Auth: auth}} {
		o.StoreDir, o.NoSync = dir, true
		s, err := embedded.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect("", nats.InProcessServer(s), nats.UserJWTAndSeed(token, seed), nats.CustomInboxPrefix("_INBOX_router"))
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if _, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "TEST_AUDIT", Subjects: []string{"test.audit.>"}}); err != nil {
				t.Fatal(err)
			}
		}
		ack, err := js.Publish(t.Context(), "test.audit.w.x", nil)
		if err != nil || ack.Sequence != uint64(round+1) {
			t.Errorf("round %d: %+v, %v", round, ack, err)
		}
		nc.Close()
		s.Stop()
	}
}
