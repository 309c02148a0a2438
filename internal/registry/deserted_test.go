package registry_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// A worker that was killed is not listed as alive once a call found that nobody listens: by
// no replica, though its registration stays as it is; and a renewal brings it back.
func TestAHookToWhichNobodyListensHasNoLiveInstance(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Server(t)
		const ttl = 8 * time.Second // a renewal reaches the other replica within a fifteenth
		first := replica(t, server, registry.Options{Replica: "first", TTL: ttl, Lease: lease})
		second := replica(t, server, registry.Options{Replica: "second", TTL: ttl, Lease: lease})
		revision := register(t, first, hook("killed", "i"))
		register(t, first, hook("alive", "i"))
		both := func(killed int) func() bool {
			return func() bool {
				for _, r := range []*registry.Registry{first, second} {
					list := r.List()
					if r.Instances("killed") != killed || len(list) != 2 || len(list[0].Instances) != killed || list[0].Revision != revision ||
						r.Instances("alive") != 1 || len(list[1].Instances) != 1 || called(t, r) != "killed alive" {
						return false
					}
				}
				return true
			}
		}
		testkit.Eventually(t, "both list the instances", both(1))
		first.NobodyListens("killed")
		first.NobodyListens("no such hook")
		if n := first.Instances("killed"); n != 0 {
			t.Errorf("%d instances right after the call", n)
		}
		testkit.Eventually(t, "both list no instance, and still call the hook", both(0))
		register(t, second, hook("killed", "i")) // renews
		testkit.Eventually(t, "both list it again", both(1))
	})
}

// A killed worker does not unregister. Where a router runs the NATS server, its hook is listed
// without an instance before any call, and with one again when a worker listens. A client that
// registers and never listens is listed until it expires.
func TestAWorkerThatStoppedListeningIsNotListed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Server(t)
		var heard atomic.Bool
		listens := func(id string) bool {
			yes := server.Listens("hooks.call." + id)
			heard.Store(heard.Load() || yes)
			return yes
		}
		first := replica(t, server, registry.Options{Replica: "first", TTL: 6 * time.Second, Lease: lease, Listens: listens}) // looks who listens 15 times in it
		second := replica(t, server, registry.Options{Replica: "second", TTL: time.Minute, Lease: lease})
		listen := func() *nats.Conn {
			worker := natstest.Conn(t, server)
			if _, err := worker.QueueSubscribeSync("hooks.call.killed", "killed"); err != nil {
				t.Fatal(err)
			}
			return worker
		}
		both := func(killed int) func() bool {
			return func() bool {
				return first.Instances("killed") == killed && second.Instances("killed") == killed &&
					first.Instances("silent") == 1 && second.Instances("silent") == 1
			}
		}
		worker := listen()
		register(t, first, hook("killed", "i"))
		register(t, first, hook("silent", "i"))
		testkit.Eventually(t, "the worker is heard", heard.Load)
		testkit.Eventually(t, "both list the instances", both(1))
		worker.Close()
		testkit.Eventually(t, "both list no instance of the killed worker", both(0))
		listen()
		testkit.Eventually(t, "it is listed again", func() bool { return first.Instances("killed") == 1 })
	})
}
