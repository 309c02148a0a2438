package embedded_test

import (
	"path/filepath"
	"strconv"
	"strings"
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

// An auditor's mirror, which has the name of the log, does not take its place where the
// store goes on without credentials.
func TestAMirrorStaysWithTheAuditors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, archive := authorityWithArchive(t, dir)
	files := a.Files()
	auth := embedded.Auth{OperatorJWT: files.Operator, Accounts: files.Accounts, Routers: files.Routers, State: files.State}
	token, seed, err := a.RouterCredentials()
	if err != nil {
		t.Fatal(err)
	}
	for round, o := range []embedded.Options{{Auth: auth}, {}} {
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
			mirror(t, s, a.CredsFile(archive), archive.Inbox())
		}
		if ack, err := js.Publish(t.Context(), "test.audit.w.x", nil); err != nil || ack.Sequence != uint64(round+1) {
			t.Errorf("round %d: %+v, %v", round, ack, err)
		}
		nc.Close()
		s.Stop()
	}
}

// authorityWithArchive is one whose account of auditors comes before that of routers.
func authorityWithArchive(t *testing.T, dir string) (*identity.Authority, identity.Identity) {
	t.Helper()
	for n := 0; ; n++ {
		a, err := identity.Ensure(filepath.Join(dir, "auth", strconv.Itoa(n)), "test")
		if err != nil {
			t.Fatal(err)
		}
		archive, err := a.Add(identity.Identity{Name: "backup", Role: identity.Archive})
		if err != nil {
			t.Fatal(err)
		}
		if archive.Account < a.Files().Routers {
			return a, archive
		}
	}
}

func mirror(t *testing.T, s nats.InProcessConnProvider, creds, inbox string) {
	t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.UserCredentials(creds), nats.CustomInboxPrefix(inbox))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	m, err := nc.RequestWithContext(t.Context(), "$JS.API.STREAM.CREATE.TEST_AUDIT", []byte(`{"name":"TEST_AUDIT","storage":"file","retention":"limits",
		"mirror":{"name":"TEST_AUDIT","external":{"api":"routers.API","deliver":"audit.copy"}}}`))
	if err != nil || strings.Contains(string(m.Data), `"error"`) {
		t.Fatalf("%v: %+v", err, m)
	}
}
