package natstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// Cluster starts three NATS servers that form a cluster with JetStream, and waits until all of them
// are current. They listen on free loopback ports.
func Cluster(t testing.TB) []*embedded.Server {
	t.Helper()
	const size = 3
	routes := testkit.FreeAddrs(t, size)
	servers := make([]*embedded.Server, size)
	for i := range servers {
		s, err := embedded.Start(embedded.Options{
			Listen: "127.0.0.1:0", StoreDir: StoreDir(t), NoSync: true, ServerName: fmt.Sprintf("n%d", i+1),
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
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); <-tick.C {
		if formed(servers) {
			return servers
		}
	}
	t.Fatalf("the cluster did not form within %v", testkit.Patience)
	return nil
}

// formed reports whether all servers are current and the leader knows all of them.
func formed(servers []*embedded.Server) bool {
	current, peers := 0, 0
	for _, s := range servers {
		if s.JetStreamIsCurrent() {
			current++
		}
		peers = max(peers, len(s.JetStreamClusterPeers())) // only the leader returns peers
	}
	return current == len(servers) && peers == len(servers)
}
