package natstest

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats-server/v2/server/ats"
)

// Bubble runs a test with its NATS servers and clients in virtual time, as [synctest.Test] does.
// They must connect in process, without sockets. The test must not be parallel.
func Bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	ats.Register() // the clock of the servers' stores must be outside the bubble
	defer ats.Unregister()
	empty := func() { runtime.GC(); runtime.GC() } // the client library keeps timers in a pool
	empty()
	defer empty()
	synctest.Test(t, test)
}
