package natscreds_test

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/natscreds"
)

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.creds")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func file(jwt, seed string) string {
	return "-----BEGIN NATS USER JWT-----\n" + jwt + "\n------END NATS USER JWT------\n\n" +
		"************************* IMPORTANT *************************\n" +
		"-----BEGIN USER NKEY SEED-----\r\n" + seed + "\r\n------END USER NKEY SEED------\n"
}

func TestRead(t *testing.T) {
	t.Parallel()
	path := write(t, file("a.b.c", "SUX"))
	for label, want := range map[string]string{natscreds.JWT: "a.b.c", natscreds.Seed: "SUX"} {
		if got, err := natscreds.Read(path, label); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", label, got, err, want)
		}
	}
	for _, text := range []string{"", "a.b.c", file("", ""), file("a b", "a b"), "-----BEGIN NATS USER JWT-----\na.b.c\n"} {
		if got, err := natscreds.Read(write(t, text), natscreds.JWT); err == nil {
			t.Errorf("%q: %q; want an error", text, got)
		}
	}
	if _, err := natscreds.Read("/nowhere", natscreds.JWT); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestClaimsOf(t *testing.T) {
	t.Parallel()
	payload := base64.RawURLEncoding.EncodeToString([]byte(`{"nats":{"tags":["x","router:nabc"],"sub":{"allow":["a.>","_INBOX_me.>"]}}}`))
	claims := natscreds.ClaimsOf(write(t, file("h."+payload+".s", "SUX")))
	if claims.Router() != "NABC" || claims.Inbox() != "_INBOX_me" {
		t.Errorf("router %q, inbox %q", claims.Router(), claims.Inbox())
	}
	for _, token := range []string{"a.b", "a.!.c", "a." + base64.RawURLEncoding.EncodeToString([]byte("{")) + ".c"} {
		if claims := natscreds.ClaimsOf(write(t, file(token, "SUX"))); claims.Router() != "" || claims.Inbox() != "" {
			t.Errorf("%s: %+v", token, claims)
		}
	}
}

func TestVerified(t *testing.T) {
	t.Parallel()
	key, err := nkeys.CreateServer()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := key.PublicKey()
	signature, _ := key.Sign([]byte("text"))
	if ok, err := natscreds.Verified(public, []byte("text"), signature); !ok || err != nil {
		t.Errorf("genuine: %v, %v", ok, err)
	}
	if ok, err := natscreds.Verified(public, []byte("other"), signature); ok || err != nil {
		t.Errorf("another text: %v, %v", ok, err)
	}
	if ok, _ := natscreds.Verified(public, []byte("text"), signature[:10]); ok {
		t.Error("half a signature counts")
	}
	for _, none := range []string{"", "N", public[:20], "!" + public[1:]} {
		if _, err := natscreds.Verified(none, []byte("text"), signature); err == nil {
			t.Errorf("%q is taken for a key", none)
		}
	}
}

func FuzzClaimsOf(f *testing.F) {
	f.Add(file("a.b.c", "SUX"))
	f.Fuzz(func(t *testing.T, text string) {
		claims := natscreds.ClaimsOf(write(t, text))
		_, _ = claims.Router(), claims.Inbox()
	})
}
