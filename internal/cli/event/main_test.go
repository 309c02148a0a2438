package event_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/approvals"
	"github.com/hookrouter/hookrouter/internal/cli/event"
	"github.com/hookrouter/hookrouter/internal/cli/hook"
	"github.com/hookrouter/hookrouter/internal/cli/session"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for people and connections
	goleak.VerifyTestMain(m)
}

// commands are those that these tests run.
type commands struct {
	Emit          event.EmitCmd          `cmd:""`
	Execute       event.ExecuteCmd       `cmd:""`
	Collect       event.CollectCmd       `cmd:""`
	Contributions event.ContributionsCmd `cmd:""`
	Explain       event.ExplainCmd       `cmd:""`
	Watch         event.WatchCmd         `cmd:""`
	Events        event.CatalogCmd       `cmd:""`
	Registry      hook.RegistryCmd       `cmd:""`
	Handlers      hook.HandlersCmd       `cmd:""`
	Approvals     approvals.Cmd          `cmd:""`
	Session       session.Cmd            `cmd:""`
}

// hookctl has the commands of these tests.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, new(commands))
}
