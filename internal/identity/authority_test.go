package identity_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/hookrouter/hookrouter/internal/identity"
)

// userOf reads the credentials of an identity.
func userOf(t *testing.T, a *identity.Authority, name string) *jwt.UserClaims {
	t.Helper()
	text, err := os.ReadFile(a.CredsFile(identity.Identity{Name: name}))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.ParseDecoratedJWT(text)
	if err != nil {
		t.Fatal(err)
	}
	user, err := jwt.DecodeUserClaims(token)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// A clock that was put back in the meantime does not keep credentials alive.
func TestWhatEndedStaysEndedWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	a := authority(t, identity.Identity{Name: "coder", Role: identity.Agent})
	old := userOf(t, a, "coder")
	old.IssuedAt += int64(time.Hour.Seconds()) // the clock was fast
	coder, err := a.Rotate("coder", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(a.Files().Accounts, coder.Account+".jwt"))
	if err != nil {
		t.Fatal(err)
	}
	account, err := jwt.DecodeAccountClaims(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if !account.IsClaimRevoked(old) {
		t.Error("the old credentials hold")
	}
	if account.IsClaimRevoked(userOf(t, a, "coder")) {
		t.Error("the new credentials do not hold")
	}
}

func TestExpiredCredentialsAreRenewed(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-time.Minute)
	a := authority(t, identity.Identity{Name: "coder", Role: identity.Agent, Expires: past})
	if _, err := a.AddToken("coder", past); err != nil {
		t.Fatal(err)
	}
	before := userOf(t, a, "coder")
	if _, err := a.Rotate("coder", time.Time{}); err == nil || !strings.Contains(err.Error(), "--expires") {
		t.Errorf("without a new end: %v", err)
	}
	if userOf(t, a, "coder").Subject != before.Subject {
		t.Error("a refused rotation changes the credentials")
	}
	future := time.Now().Add(time.Hour)
	i, err := a.Rotate("coder", future)
	if err != nil {
		t.Fatal(err)
	}
	if ends := userOf(t, a, "coder").Expires; ends != future.Unix() || !i.HTTP.Expires.Equal(future) {
		t.Errorf("they end at %d and %v, want %v", ends, i.HTTP.Expires, future)
	}
}

func TestTheSystemIsNotRevoked(t *testing.T) {
	t.Parallel()
	a := authority(t, identity.Identity{Name: "system", Role: identity.System})
	if _, err := a.Revoke("system"); err == nil || !strings.Contains(err.Error(), "rotate") {
		t.Errorf("error is %v", err)
	}
	userOf(t, a, "system")
}

// The server and routers read no account again that is as it was.
func TestAChangeSignsOnlyWhatItChanges(t *testing.T) {
	t.Parallel()
	made := authority(t, identity.Identity{Name: "coder", Role: identity.Agent}, identity.Identity{Name: "ann", Role: identity.Admin})
	read := func() map[string]string {
		all := map[string]string{}
		files, err := filepath.Glob(filepath.Join(made.Files().Accounts, "*.jwt"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = string(text)
		}
		return all
	}
	before := read()
	<-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // a signature has its second
	a, err := identity.Open(made.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Add(identity.Identity{Name: "rival", Role: identity.Agent}); err != nil {
		t.Fatal(err)
	}
	after := read()
	for path, text := range before {
		if after[path] != text {
			t.Errorf("%s is signed again", filepath.Base(path))
		}
	}
	if len(after) != len(before)+1 {
		t.Errorf("%d accounts, want one more than %d", len(after), len(before))
	}
}

func TestADirectoryThatIsThereIsClosedToOthers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "auth")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Init(dir, "hooks"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
