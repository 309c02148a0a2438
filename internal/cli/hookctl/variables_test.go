package hookctl_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
)

// The router's variable takes precedence, as in hook-router, and like HOOK_WORKER_NATS_URL in
// hook-worker.
func TestTheRoutersVariableGoesFirst(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	const nowhere = "nats://127.0.0.1:1"
	url := f.Env["NATS_URL"]
	for _, c := range []struct {
		specific, general string
		code              int
	}{{url, nowhere, cli.ExitOK}, {nowhere, url, cli.ExitDisconnected}, {"", url, cli.ExitOK}} {
		f.Env["HOOK_ROUTER_NATS_URL"], f.Env["NATS_URL"] = c.specific, c.general
		if got := f.Run("handlers"); got.Code != c.code {
			t.Errorf("HOOK_ROUTER_NATS_URL=%s NATS_URL=%s: %+v; want code %d", c.specific, c.general, got, c.code)
		}
	}
}
