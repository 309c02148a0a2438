package embedded_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o embedded.Options) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func connect(t *testing.T, s *embedded.Server) *nats.Conn {
	t.Helper()
	return natstest.Dial(t, "", nats.InProcessServer(s), nats.NoReconnect())
}

// Without an address the server has no socket: only this process reaches it.
func TestServerWithoutAddressServesThisProcess(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Options{StoreDir: t.TempDir(), NoSync: true})
	if addr := s.Addr(); addr != nil {
		t.Errorf("it listens on %v", addr)
	}
	nc := connect(t, s)
	if _, err := nc.Subscribe("echo", func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil { // the server knows the subscription before it gets the request
		t.Fatal(err)
	}
	m, err := connect(t, s).Request("echo", []byte("hello"), 20*time.Second)
	if err != nil || string(m.Data) != "hello" {
		t.Errorf("the reply is %v, %v", m, err)
	}
	if got := nc.MaxPayload(); got != embedded.MaxPayload {
		t.Errorf("max_payload is %d, want %d", got, embedded.MaxPayload)
	}
}

func TestServerListensAtItsAddress(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Options{Listen: "127.0.0.1:0", StoreDir: t.TempDir(), NoSync: true})
	if host, port, err := net.SplitHostPort(s.Addr().String()); err != nil || host != "127.0.0.1" || port == "0" {
		t.Errorf("it listens on %v, %v", s.Addr(), err)
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
}

// Two servers on the same files would lose what they acknowledged. The first is not
// disturbed by the second.
func TestAStoreHasOneServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, embedded.Options{StoreDir: dir, NoSync: true})
	second, err := embedded.Start(embedded.Options{StoreDir: dir, NoSync: true})
	if err == nil {
		second.Stop()
		t.Fatal("two servers run on one directory")
	}
	for _, want := range []string{dir, "in use by another hook-router", "--store-dir", "--nats-url"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error is %q, want in it %q", err, want)
		}
	}
	if err := connect(t, first).Flush(); err != nil {
		t.Errorf("the first one: %v", err)
	}
}

// What was acknowledged is there after a restart, and a stop leaves the directory to the
// next server.
func TestAStopKeepsTheStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, embedded.Options{StoreDir: dir})
	bucket(t, first, func(kv jetstream.KeyValue) error { _, err := kv.PutString(t.Context(), "key", "value"); return err })
	nc := connect(t, first)
	first.Stop()
	if first.Running() {
		t.Error("it runs after the stop")
	}
	if err := nc.Flush(); err == nil {
		t.Error("a connection to it works after the stop")
	}
	second := start(t, embedded.Options{StoreDir: dir})
	bucket(t, second, func(kv jetstream.KeyValue) error {
		e, err := kv.Get(t.Context(), "key")
		if err == nil && string(e.Value()) != "value" {
			t.Errorf("the value is %q", e.Value())
		}
		return err
	})
	second.Stop()
	second.Stop() // again does no harm
}

func bucket(t *testing.T, s *embedded.Server, do func(jetstream.KeyValue) error) {
	t.Helper()
	nc := connect(t, s)
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "test", Storage: jetstream.FileStorage})
	if err != nil {
		t.Fatal(err)
	}
	if err := do(kv); err != nil {
		t.Fatal(err)
	}
}

// A start that fails says what to change, and leaves the directory to the next one.
func TestStartSaysWhatToChange(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, test := range []struct {
		options embedded.Options
		says    string
	}{
		{embedded.Options{}, "needs a store directory"},
		{embedded.Options{StoreDir: file}, "not writable"},
		{embedded.Options{StoreDir: dir, Listen: "nowhere"}, `address "nowhere" is not host:port`},
		{embedded.Options{StoreDir: dir, Listen: "127.0.0.1:65536"}, "is not host:port"},
		{embedded.Options{StoreDir: dir, Listen: taken.Addr().String()}, "is another hook-router or nats-server running? Stop it first, choose another address with --nats-listen, or join it with --nats-url"},
		{embedded.Options{StoreDir: dir, Cluster: embedded.Cluster{Name: "c", Listen: "x"}}, `address "x" is not host:port`},
	} {
		s, err := embedded.Start(test.options)
		if err == nil {
			s.Stop()
			t.Errorf("%+v: it started", test.options)
			continue
		}
		if !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: error is %q, want in it %q", test.options, err, test.says)
		}
	}
	start(t, embedded.Options{StoreDir: dir, NoSync: true})
}
