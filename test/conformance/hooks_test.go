package conformance

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// envHooks is the command of a bridge to a client library, words with spaces between.
const envHooks = "HOOKROUTER_HOOKS_COMMAND"

// TestConformanceOfHooks replays the suite with hooks that a client library runs: those of
// the command in HOOKROUTER_HOOKS_COMMAND, or a part of it with those of pkg/worker.
func TestConformanceOfHooks(t *testing.T) {
	t.Parallel()
	cases, err := Load("testdata/public.json")
	if err != nil {
		t.Fatal(err)
	}
	command, nth := strings.Fields(os.Getenv(envHooks)), 1
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s is not set: pkg/worker runs the hooks", envHooks)
		command, nth = []string{"env", envBridge + "=1", self}, testkit.Volume(t, 16, 1, 1)
	}
	server := natstest.Listening(t)
	hooks, err := StartHooks(context.WithoutCancel(t.Context()), server.ClientURL(), command...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hooks.Close(); err != nil {
			t.Error(err)
		}
	})
	const lanes = 6
	for lane := range lanes {
		prefix := "hooks" + string(rune('0'+lane))
		routertest.Start(t, server, router.Options{}, natsx.Options{Prefix: prefix})
		target := Target{Conn: natstest.Conn(t, server), Prefix: prefix, Hooks: hooks}
		t.Run(prefix, func(t *testing.T) {
			t.Parallel()
			for i := lane; i < len(cases); i += lanes * nth {
				t.Run(cases[i].Name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
					defer cancel()
					if err := Run(ctx, target, cases[i]); err != nil {
						t.Errorf("case %s:\n%v", cases[i].Name, err)
					}
				})
			}
		})
	}
}
