package testkit

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
)

// Cluster starts three NATS servers that form one cluster with JetStream, and
// waits until every one of them can take its part in it. They listen on free
// ports of the loopback.
func Cluster(t testing.TB) []*embedded.Server {
	t.Helper()
	const size = 3
	routes := FreeAddrs(t, size)
	servers := make([]*embedded.Server, size)
	for i := range servers {
		s, err := embedded.Start(embedded.Options{
			Listen: "127.0.0.1:0", StoreDir: t.TempDir(), NoSync: true, ServerName: fmt.Sprintf("n%d", i+1),
			Cluster: embedded.Cluster{Name: "test", Listen: routes[i], Routes: routes},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
		servers[i] = s
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-tick.C {
		if formed(servers) {
			return servers
		}
	}
	t.Fatal("the cluster did not form within 30 s")
	return nil
}

// formed reports whether there is a leader that knows every server as current.
func formed(servers []*embedded.Server) bool {
	current, peers := 0, 0
	for _, s := range servers {
		if s.JetStreamIsCurrent() {
			current++
		}
		peers = max(peers, len(s.JetStreamClusterPeers())) // the leader's; none elsewhere
	}
	return current == len(servers) && peers == len(servers)
}

// FreeAddrs returns addresses of the loopback with ports that were free a moment
// ago.
func FreeAddrs(t testing.TB, n int) []string {
	t.Helper()
	list := make([]string, n)
	held := make([]net.Listener, 0, n)
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for i := range list {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		list[i] = l.Addr().String()
	}
	return list
}
