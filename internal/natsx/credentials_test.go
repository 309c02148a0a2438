package natsx_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookrouter/hookrouter/internal/natscreds"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// listening starts a server on loopback and returns its URL.
func listening(t *testing.T, o *server.Options) (url string) {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(testkit.Patience) {
		t.Fatal("the server is not ready")
	}
	return s.ClientURL()
}

// operatorServer starts a server in operator mode, and returns the credentials of a user.
func operatorServer(t *testing.T) (url, creds string) {
	t.Helper()
	key := func(kind nkeys.PrefixByte) (pair nkeys.KeyPair, public string, seed []byte) {
		pair, err := nkeys.CreatePair(kind)
		if err != nil {
			t.Fatal(err)
		}
		public, _ = pair.PublicKey()
		seed, _ = pair.Seed()
		return pair, public, seed
	}
	encoded := func(claims jwt.Claims, by nkeys.KeyPair) string {
		text, err := claims.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, operatorKey, _ := key(nkeys.PrefixByteOperator)
	account, accountKey, _ := key(nkeys.PrefixByteAccount)
	_, userKey, seed := key(nkeys.PrefixByteUser)
	resolver := &server.MemAccResolver{}
	if err := resolver.Store(accountKey, encoded(jwt.NewAccountClaims(accountKey), operator)); err != nil {
		t.Fatal(err)
	}
	url = listening(t, &server.Options{
		TrustedOperators: []*jwt.OperatorClaims{jwt.NewOperatorClaims(operatorKey)}, AccountResolver: resolver,
	})
	text, err := jwt.FormatUserConfig(encoded(jwt.NewUserClaims(userKey), account), seed)
	if err != nil {
		t.Fatal(err)
	}
	return url, string(text)
}

// A credentials file is read however editors and other tools write it, and an error names the
// file and never shows a key.
func TestCredentialsFile(t *testing.T) {
	t.Parallel()
	url, creds := operatorServer(t)
	token, rest, _ := strings.Cut(creds, "-----BEGIN USER NKEY SEED-----\n")
	seed, _, _ := strings.Cut(rest, "\n")
	for name, c := range map[string]struct {
		text, fails string
	}{
		"as it is written":              {text: creds},
		"with the line ends of Windows": {text: strings.ReplaceAll(creds, "\n", "\r\n")},
		"behind a comment":              {text: "# made by hand\n" + creds},
		"empty":                         {fails: "it has no USER JWT"},
		"without the key":               {text: token, fails: "it has no NKEY SEED"},
		"cut off in the key":            {text: creds[:len(creds)-len(rest)+20], fails: "it has no NKEY SEED"},
		"with a wrong letter":           {text: strings.Replace(creds, seed, "SUA"+strings.Repeat("A", len(seed)-3), 1), fails: "read the key in"},
		"with a key of an account":      {text: strings.Replace(creds, seed, "SA"+seed[2:], 1), fails: "read the key in"},
	} {
		file := filepath.Join(t.TempDir(), "agent.creds")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		conn, err := natsx.Connect(natsx.Options{URL: url, Creds: file})
		if err == nil {
			conn.Close()
		}
		switch {
		case c.fails == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || !strings.Contains(err.Error(), file)):
			t.Errorf("%s: %v; want %q and the file's name", name, err, c.fails)
		case c.fails != "" && (!errors.Is(err, natscreds.ErrFormat) || errors.Is(err, natsx.ErrUnreachable)):
			t.Errorf("%s: %v; want ErrFormat", name, err)
		case err != nil && strings.Contains(err.Error(), seed[10:20]):
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
}

// Credentials that can't be read are no server that can't be reached: trying again does not help,
// and whoever lets events pass without a router does not mean this.
func TestMissingCredentialsAreNoUnreachableServer(t *testing.T) {
	t.Parallel()
	url, _ := operatorServer(t)
	_, err := natsx.Connect(natsx.Options{URL: url, Creds: filepath.Join(t.TempDir(), "none.creds")})
	if !errors.Is(err, natsx.ErrCredentials) || errors.Is(err, natsx.ErrUnreachable) {
		t.Errorf("%v; want ErrCredentials", err)
	}
}

// Credentials of another server are named as what the server refuses; without any, the error says
// that some are needed.
func TestRefusedCredentialsAreNamed(t *testing.T) {
	t.Parallel()
	url, _ := operatorServer(t)
	_, creds := operatorServer(t)
	file := filepath.Join(t.TempDir(), "old.creds")
	if err := os.WriteFile(file, []byte(creds), 0o600); err != nil {
		t.Fatal(err)
	}
	for creds, want := range map[string]string{file: "the server refuses those in " + file, "": "the server requires credentials"} {
		if _, err := natsx.Connect(natsx.Options{URL: url, Creds: creds}); !errors.Is(err, natsx.ErrCredentials) || !strings.Contains(err.Error(), want) {
			t.Errorf("credentials %q: %v; want %s", creds, err, want)
		}
	}
}

// An address that is none is no unreachable server either.
func TestAnAddressThatIsNone(t *testing.T) {
	t.Parallel()
	_, err := natsx.Connect(natsx.Options{URL: "localhost:port"})
	if !errors.Is(err, natsx.ErrURL) || errors.Is(err, natsx.ErrUnreachable) {
		t.Errorf("%v; want ErrURL", err)
	}
}

// A key that was rotated counts from the next connection on.
func TestCredentialsAreReadAnew(t *testing.T) {
	t.Parallel()
	url, creds := operatorServer(t)
	file := filepath.Join(t.TempDir(), "agent.creds")
	if err := os.WriteFile(file, []byte(creds), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := natsx.Connect(natsx.Options{URL: url, Creds: file, NATS: []nats.Option{nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := conn.Conn().ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	ctx := testkit.Within(t, testkit.Patience)
	testkit.Until(t, ctx, "nobody connects without the file", func() bool { return !conn.Connected() && conn.Conn().LastError() != nil })
	if err := os.WriteFile(file, []byte(creds), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, ctx, "the file that came back is read", conn.Connected)
}
