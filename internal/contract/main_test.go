package contract_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats-server/v2/server/ats"
	"go.uber.org/goleak"
)

// TestMain starts the clock of the NATS server's statistics, which belongs to no
// bubble of virtual time.
func TestMain(m *testing.M) {
	ats.Register()
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// bubble runs a test with the NATS server in virtual time.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	empty := func() { runtime.GC(); runtime.GC() } // the client library keeps timers in a pool
	empty()
	defer empty()
	synctest.Test(t, test)
}
