package identity_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func authority(t *testing.T, list ...identity.Identity) *identity.Authority {
	t.Helper()
	a, err := identity.Init(filepath.Join(t.TempDir(), "auth"), "hooks")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if _, err := a.Add(i); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func TestLimitsOfAWorker(t *testing.T) {
	t.Parallel()
	a := authority(t, identity.Identity{Name: "any", Role: identity.Worker, Hooks: []string{"*"}},
		identity.Identity{Name: "notes", Role: identity.Worker, Hooks: []string{"notes"}, May: &identity.Limits{
			Events: []string{"tool:*", "session:end"}, Priority: &identity.Band{Min: 100, Max: 200}, Actions: []chain.Action{chain.InjectContext}, TimeoutMS: 1000,
		}})
	f, err := identity.OpenFile(filepath.Join(a.Dir(), identity.DirectoryFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	fine := chain.Registration{ID: "notes", Events: []string{"tool:pre", "tool:*", "session:end"}, Priority: 150, TimeoutMS: 1000}
	for sentence, c := range map[string]struct {
		change func(*chain.Registration)
		want   string
	}{
		"as it may":         {func(*chain.Registration) {}, ""},
		"any hook":          {func(r *chain.Registration) { r.ID, r.Events, r.Priority = "other", []string{"*"}, -1 }, ""},
		"all events":        {func(r *chain.Registration) { r.Events = []string{"*"} }, "registers for *"},
		"another domain":    {func(r *chain.Registration) { r.Events = []string{"session:*"} }, "registers for session:*"},
		"a channel":         {func(r *chain.Registration) { r.Events, r.Channels = nil, []string{"prompt"} }, "contributes to channels"},
		"too early":         {func(r *chain.Registration) { r.Priority = 99 }, "its priority is 99"},
		"too long":          {func(r *chain.Registration) { r.TimeoutMS = 1001 }, "at most 1s is allowed"},
		"the default time":  {func(r *chain.Registration) { r.TimeoutMS = 0 }, "its timeout is 5s"},
		"the end of a band": {func(r *chain.Registration) { r.Priority = 200 }, ""},
	} {
		r := fine
		c.change(&r)
		err := f.CheckRegistration(r)
		if c.want == "" && err != nil || c.want != "" && (wire.CodeOf(err) != wire.Forbidden || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", sentence, err, c.want)
		}
	}
	for action, want := range map[chain.Action]bool{chain.Continue: true, chain.Deny: true, chain.InjectContext: true, chain.Modify: false, chain.AskUser: false} {
		if f.Allows("notes", action) != want || !f.Allows("other", action) {
			t.Errorf("may answer %s: %v", action, !want)
		}
	}
}

// A router learns of who was added, and forgets who was revoked.
func TestTheFileIsReadAgain(t *testing.T) {
	t.Parallel()
	a := authority(t)
	path := filepath.Join(a.Dir(), identity.DirectoryFile)
	f, err := identity.OpenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	coder, err := a.Add(identity.Identity{Name: "coder", Role: identity.Agent})
	if err != nil {
		t.Fatal(err)
	}
	if label, err := f.Sender(coder.Account); err != nil || label != "agent/coder" {
		t.Errorf("who was added is %q, %v", label, err)
	}
	if _, err := a.Revoke("coder"); err != nil {
		t.Fatal(err)
	}
	again, err := identity.OpenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Sender(coder.Account); wire.CodeOf(err) != wire.Unavailable {
		t.Errorf("who was revoked: %v", err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if label, err := f.Sender(coder.Account); err != nil || label != "agent/coder" {
		t.Errorf("after a broken file: %q, %v", label, err)
	}
	if _, err := identity.OpenFile(path, nil); err == nil {
		t.Error("a broken file opens")
	}
}

// Nobody else can read a key, and what everybody may read holds none.
func TestKeysAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	a := authority(t, identity.Identity{Name: "coder", Role: identity.Agent})
	err := filepath.WalkDir(a.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := []byte{}
		if !d.IsDir() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		secret := strings.HasPrefix(string(text), "SO") || strings.HasPrefix(string(text), "SA") || strings.Contains(string(text), "SEED")
		if (secret || d.IsDir()) && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReportSaysWhatChanged(t *testing.T) {
	t.Parallel()
	a := authority(t, identity.Identity{Name: "coder", Role: identity.Agent}, identity.Identity{Name: "idle", Role: identity.Agent})
	f, err := identity.OpenFile(filepath.Join(a.Dir(), identity.DirectoryFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	var digests, got []string
	f.Report(func(digest string, changes []identity.Difference) {
		digests = append(digests, digest)
		for _, c := range changes {
			got = append(got, c.Action+" "+c.Identity.Label())
		}
	})
	reviewer := identity.Identity{Name: "reviewer", Role: identity.Agent}
	for _, change := range []func() (identity.Identity, error){
		func() (identity.Identity, error) { return a.Add(reviewer) },
		func() (identity.Identity, error) { return a.AddToken("coder", time.Time{}) },
		func() (identity.Identity, error) { return a.Rotate("coder", time.Time{}) },
		func() (identity.Identity, error) { return a.Revoke("reviewer") },
		func() (identity.Identity, error) { return a.Rotate("reviewer", time.Now().Add(time.Hour)) },
	} {
		if _, err := change(); err != nil {
			t.Fatal(err)
		}
		f.Bearer("") // reads the files again
	}
	want := []string{"added agent/reviewer", "changed agent/coder", "rotated agent/coder", "revoked agent/reviewer", "rotated agent/reviewer"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := len(slices.Compact(digests)); n != len(want)+1 {
		t.Errorf("%d digests in a row differ of %d readings", n, len(want)+1)
	}
}
