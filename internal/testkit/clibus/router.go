package clibus

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// New starts a server and a router. Output is JSON unless a command has --text.
func New(t *testing.T, hookctl clitest.Hookctl) *clitest.Fixture {
	t.Helper()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	return &clitest.Fixture{T: t, Hookctl: hookctl, Env: map[string]string{"HOOKCTL_FORMAT": "json", "NATS_URL": s.ClientURL()}, NC: natstest.Conn(t, s)}
}
