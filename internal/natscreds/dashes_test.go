package natscreds_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hookrouter/hookrouter/internal/natscreds"
)

// One in some hundred JWTs has three dashes in a row: base64url has them.
func TestAJWTMayHaveDashesInIt(t *testing.T) {
	t.Parallel()
	const jwt = "eyJ0.eyJu---YX.a----b"
	file := filepath.Join(t.TempDir(), "a.creds")
	text := "-----BEGIN NATS USER JWT-----\n" + jwt + "\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\nSUAX\n------END USER NKEY SEED------\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{natscreds.JWT: jwt, natscreds.Seed: "SUAX"} {
		if got, err := natscreds.Read(file, label); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", label, got, err, want)
		}
	}
}
