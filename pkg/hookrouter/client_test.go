package hookrouter_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConnectSaysWhatIsWrong(t *testing.T) {
	for sentence, c := range map[string]struct {
		o    hookrouter.Options
		want string
	}{
		"no server":            {hookrouter.Options{URL: "nats://127.0.0.1:1"}, "is a server running there?"},
		"without the password": {hookrouter.Options{URL: "nats://me:secret@127.0.0.1:1"}, "connect to NATS at nats://***@127.0.0.1:1: "},
		"a bad prefix":         {hookrouter.Options{Conn: natstest.Conn(t, natstest.Server(t)), Prefix: "A.B"}, `prefix "A.B"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := hookrouter.Connect(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// A server that takes connections and says nothing holds Connect up no longer than its
// context lasts.
func TestConnectHonoursItsContext(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			accepted <- struct{}{}
			accepted <- struct{}{} // until the test is over
		}
	}()
	url := "nats://" + listener.Addr().String()
	cause := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-accepted
		cancel(cause)
	}()
	began := time.Now()
	_, err = hookrouter.Connect(ctx, hookrouter.Options{URL: url, NATS: []nats.Option{nats.Timeout(time.Minute)}})
	if took := time.Since(began); !errors.Is(err, cause) || took > 10*time.Second {
		t.Errorf("error is %v after %v", err, took)
	}
	<-accepted
	if _, err := hookrouter.Connect(ctx, hookrouter.Options{URL: url}); !errors.Is(err, cause) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestCloseLeavesTheCallersConnectionOpen(t *testing.T) {
	s := natstest.Listening(t)
	theirs := natstest.Conn(t, s)
	client := natstest.Client(t, hookrouter.Options{Conn: theirs})
	client.Close()
	if theirs.IsClosed() {
		t.Error("closed a connection that is not its own")
	}
	own := natstest.Client(t, hookrouter.Options{URL: s.ClientURL(), Prefix: "team-a"})
	if own.Prefix() != "team-a" || own.Conn().IsClosed() {
		t.Errorf("prefix is %q", own.Prefix())
	}
	for range 2 {
		own.Close()
	}
	if !own.Conn().IsClosed() {
		t.Error("left its own connection open")
	}
}

// NATS_CREDS names the credentials, as in every other program, unless others are given or the
// server is embedded.
func TestConnectTakesCredentialsFromTheEnvironment(t *testing.T) {
	s := natstest.Listening(t)
	t.Setenv("NATS_CREDS", filepath.Join(t.TempDir(), "none.creds"))
	for sentence, c := range map[string]struct {
		o    hookrouter.Options
		want string
	}{
		"no others":          {hookrouter.Options{URL: s.ClientURL()}, "none.creds"},
		"a file":             {hookrouter.Options{URL: s.ClientURL(), Creds: "other.creds"}, "other.creds"},
		"a user":             {hookrouter.Options{URL: s.ClientURL(), NATS: []nats.Option{nats.UserInfo("me", "secret")}}, ""},
		"an embedded server": {hookrouter.Options{NATS: []nats.Option{nats.InProcessServer(s)}}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			client, err := hookrouter.Connect(t.Context(), c.o)
			if err == nil {
				client.Close()
			}
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}
