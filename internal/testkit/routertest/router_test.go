package routertest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A router serves as soon as it is up, and leaves nothing behind.
func TestStart(t *testing.T) {
	s := natstest.Server(t)
	_, stop := routertest.Start(t, s, router.Options{})
	nc := natstest.Conn(t, s)
	m, err := nc.RequestWithContext(testkit.Within(t, testkit.Patience), "hooks.registry", nil)
	if err != nil || string(m.Data) != "[]" {
		t.Errorf("%v: %v", err, m)
	}
	stop()
}
