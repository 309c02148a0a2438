package identity_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/hookrouter/hookrouter/internal/identity"
)

// Agents use streams once every router has credentials that permit their subjects.
func TestAgentsWaitForTheCredentialsOfRouters(t *testing.T) {
	t.Parallel()
	dir := authority(t, identity.Identity{Name: "coder", Role: identity.Agent}, identity.Identity{Name: "r1", Role: identity.Router}, identity.Identity{Name: "r2", Role: identity.Router}).Dir()
	if usesStreams(t, dir) {
		t.Error("agents use streams, but the server may be a cluster")
	}
	if _, err := identity.EnsureServed(dir, "hooks"); err != nil {
		t.Fatal(err)
	}
	if !usesStreams(t, dir) {
		t.Error("agents use no streams")
	}
	makeRoutersOld(t, dir)
	change := func(do func(*identity.Authority) error) {
		t.Helper()
		if err := identity.Change(dir, do); err != nil {
			t.Fatal(err)
		}
	}
	rotate := func(name string) func(*identity.Authority) error {
		return func(a *identity.Authority) error {
			_, err := a.Rotate(name, time.Time{})
			return err
		}
	}
	change(rotate("r1"))
	if usesStreams(t, dir) {
		t.Error("agents use streams, which r2 may not read")
	}
	change(func(a *identity.Authority) error {
		_, err := a.Revoke("r2")
		return err
	})
	if !usesStreams(t, dir) {
		t.Error("agents use no streams, but all routers may read them")
	}
	change(rotate("r2"))
	if !usesStreams(t, dir) {
		t.Error("agents use no streams after a rotation")
	}
}

// usesStreams reports how agents reach the routers: both sides say the same.
func usesStreams(t *testing.T, dir string) bool {
	t.Helper()
	a, err := identity.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := a.Identities()
	coder := list[slices.IndexFunc(list, func(i identity.Identity) bool { return i.Name == "coder" })].Account
	agent, imported := account(t, a, coder), 0
	for _, i := range account(t, a, a.Files().Routers).Imports {
		if i.Account == coder {
			imported++
		}
	}
	if imported != len(agent.Exports) || (imported == 0) != (len(agent.Imports) > 1) {
		t.Errorf("the routers import %d streams; the agent exports %d and imports %d", imported, len(agent.Exports), len(agent.Imports))
	}
	return imported > 0
}

func account(t *testing.T, a *identity.Authority, public string) jwt.Account {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.Files().Accounts, public+".jwt"))
	if err != nil {
		t.Fatal(err)
	}
	claims, err := jwt.DecodeAccountClaims(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return claims.Account
}

// makeRoutersOld makes the credentials of routers look like those of earlier versions.
func makeRoutersOld(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, identity.DirectoryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	for _, i := range state["identities"].([]any) {
		delete(i.(map[string]any), "streams")
	}
	if text, err = json.Marshal(state); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
