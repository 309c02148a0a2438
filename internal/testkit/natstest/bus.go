package natstest

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
)

// Server starts a NATS server that does not listen.
func Server(t testing.TB) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Options{StoreDir: StoreDir(t), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Listening starts a NATS server that listens on a free loopback port, for clients that connect by
// URL: see its ClientURL.
func Listening(t testing.TB) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: StoreDir(t), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Conn connects to an embedded server without a socket.
func Conn(t testing.TB, s nats.InProcessConnProvider, options ...nats.Option) *nats.Conn {
	t.Helper()
	const queue = 64 << 10 // messages per SubscribeSync; the default of 512 Ki allocates 4 MiB
	options = append([]nats.Option{nats.SyncQueueLen(queue), nats.Timeout(30 * time.Second)}, options...)
	nc, err := nats.Connect("", append(options, nats.InProcessServer(s), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Dial connects to the server at a URL as a client of the library does.
func Dial(t testing.TB, url string, options ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
