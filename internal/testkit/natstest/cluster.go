package natstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

// Cluster starts three NATS servers that form one cluster with JetStream, and
// waits until every one of them can take its part in it. They listen on free
// ports of the loopback.
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
