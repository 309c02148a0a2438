package console_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/api/console"
)

func TestWithoutALogNothingIsReadBack(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	for _, path := range []string{"/v1/history", "/v1/audit", "/v1/audit/state", "/v1/recent"} {
		if r := ask(c, http.MethodGet, path, ""); r.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, r.Code, r.Body)
		}
	}
	for _, query := range []string{"limit=0", "limit=201", "limit=x", "since=yesterday", "hook=a&hook=b", "chain=c", "action=bogus", "by=" + long(513)} {
		if r := ask(c, http.MethodGet, "/v1/history?"+query, ""); r.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, r.Code, r.Body)
		}
	}
}

func TestAProofNeedsANonce(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory()})
	for body, code := range map[string]int{
		`{"session":"1.a","nonce":"0123456789abcdef"}`:                         http.StatusOK,
		`{"session":"1.a","nonce":"short"}`:                                    http.StatusBadRequest,
		`{"session":"` + long(513) + `","nonce":"0123456789abcdef"}`:           http.StatusBadRequest,
		`{"session":"1.a","nonce":"0123456789abcdef","token":"` + token + `"}`: http.StatusBadRequest,
		`null`: http.StatusBadRequest,
	} {
		if r := ask(c, http.MethodPost, "/v1/session/proof", body, "Authorization", ""); r.Code != code {
			t.Errorf("%s: %d %s", body, r.Code, r.Body)
		}
	}
}

// A proof tells anyone whether a guess of the token is right. Only the router derives the key from
// the token once.
func TestAGuessOfATokenIsSlow(t *testing.T) {
	c := open(t, console.Options{Approvals: newMemory(), Token: token})
	prove := func() time.Duration {
		began := time.Now()
		r := ask(c, http.MethodPost, "/v1/session/proof", `{"session":"1.a","nonce":"0123456789abcdef"}`, "Authorization", "")
		if r.Code != http.StatusOK {
			t.Fatalf("%d %s", r.Code, r.Body)
		}
		return time.Since(began)
	}
	guess, proof := prove(), time.Hour
	for range 20 {
		proof = min(proof, prove())
	}
	if t.Logf("the key takes %s, a proof %s", guess, proof); guess < 100*proof {
		t.Errorf("the key takes %s, a proof %s", guess, proof)
	}
}

func TestTheKeyOfSessionsIsKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store", "console.key")
	first, err := console.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := console.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" || len(first) != 32 {
		t.Errorf("%d bytes, then %s", len(first), diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := console.LoadKey(path); err == nil {
		t.Errorf("a broken file holds %v", key)
	}
}
