package server_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/natscontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// guarded runs a router whose server asks for credentials, in a home of its own.
func guarded(t *testing.T) (s *server.Server, home string) {
	t.Helper()
	home = t.TempDir()
	dir := filepath.Join(home, "data")
	s, _ = run(t, server.Options{
		NATS: natsx.Options{Prefix: "hooks"}, Listen: "127.0.0.1:0", StoreDir: dir, AuthDir: filepath.Join(dir, "auth"),
		ContextDir: natscontext.Dir(in(home)),
	})
	return s, home
}

// in is the environment of a process with a home.
func in(home string) func(string) string {
	return func(name string) string { return map[string]string{"HOME": home}[name] }
}

// as connects with the credentials that a router left for a role.
func as(t *testing.T, n *server.Server, home, role string) *hookrouter.Client {
	t.Helper()
	c, err := natsx.Connect(natsx.Options{URL: n.ClientURL(), Role: role, Getenv: in(home)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	client, err := hookrouter.Connect(t.Context(), hookrouter.Options{Conn: c.Conn()})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// The embedded server lets nobody in who has no credentials, and its user's programs find
// theirs without being told where.
func TestTheEmbeddedServerAsksForCredentials(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, home := guarded(t)
	if nc, err := nats.Connect(n.ClientURL()); err == nil {
		nc.Close()
		t.Fatal("it lets in whoever comes")
	}
	w, err := worker.New(as(t, n, home, "worker"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Register(ctx, worker.Registration{ID: "guard", Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (worker.Result, error) {
		return worker.Deny("no")
	}); err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(as(t, n, home, "agent"), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	x, err := a.Execute(ctx, "tool:pre", map[string]any{})
	if err != nil || x.Permitted() || x.Reason != "no" {
		t.Errorf("execute: %+v, %v", x, err)
	}
	if err := w.Close(ctx); err != nil {
		t.Error(err)
	}
}

// A worker tells that its policy could not be loaded. It may emit nothing else.
func TestAWorkerEmitsOnlyThatAPolicyFailed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, home := guarded(t)
	a, err := agent.New(as(t, n, home, "worker"), agent.Options{Source: "/hook-worker"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Emit(ctx, events.ModuleLoadFailed, events.ModuleLoadFailedData{ModuleType: "policy", ModuleID: "p", Error: "e"}); err != nil {
		t.Error(err)
	}
	short, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	defer stop()
	if _, err := a.Emit(short, "tool:pre", map[string]any{}); err == nil {
		t.Error("it emits events of an agent")
	}
}

// The log says who has credentials, and when they changed.
func TestChangesOfCredentialsAreRecorded(t *testing.T) {
	t.Parallel()
	n, home := guarded(t)
	conn, err := natsx.Connect(natsx.Options{URL: n.ClientURL(), Role: "keeper", Getenv: in(home)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	log, err := query.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(as(t, n, home, "agent"), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	recorded := func(want string) {
		t.Helper()
		testkit.Eventually(t, "the record of "+want, func() bool {
			if _, err := a.Emit(t.Context(), "tool:pre", map[string]any{}); err != nil { // the router looks who sent it
				t.Fatal(err)
			}
			list, _, err := log.Newest(t.Context(), query.Filter{Kinds: []audit.Kind{audit.IdentityKind}}, 1)
			return err == nil && len(list) == 1 && list[0].Action+" "+list[0].Name == want && strings.HasPrefix(list[0].Digest, "sha256:")
		})
	}
	recorded("loaded ")
	change := func(do func(*identity.Authority) (identity.Identity, error)) {
		t.Helper()
		err := identity.Change(filepath.Join(home, "data", "auth"), func(a *identity.Authority) error {
			_, err := do(a)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change(func(a *identity.Authority) (identity.Identity, error) {
		return a.Add(identity.Identity{Name: "coder", Role: identity.Agent})
	})
	recorded("added agent/coder")
	change(func(a *identity.Authority) (identity.Identity, error) { return a.Revoke("coder") })
	recorded("revoked agent/coder")
}
