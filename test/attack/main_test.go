package attack

import (
	"os"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(12) // they wait for routers, leases and people
	os.Exit(m.Run())
}
