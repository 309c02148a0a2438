package hook_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/event"
	"github.com/hookrouter/hookrouter/internal/cli/guard"
	"github.com/hookrouter/hookrouter/internal/cli/hook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// commands are those that these tests run.
type commands struct {
	Emit          event.EmitCmd          `cmd:""`
	Collect       event.CollectCmd       `cmd:""`
	Contributions event.ContributionsCmd `cmd:""`
	Explain       event.ExplainCmd       `cmd:""`
	Handlers      hook.HandlersCmd       `cmd:""`
	Registry      hook.RegistryCmd       `cmd:""`
	Hook          hook.Cmd               `cmd:""`
	Guard         guard.Cmd              `cmd:""`
	Validate      hook.ValidateCmd       `cmd:""`
}

// hookctl has the commands of these tests.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, new(commands))
}
