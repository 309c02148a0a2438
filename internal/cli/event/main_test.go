package event_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hookctl runs the commands under test.
func hookctl(ctx context.Context, args []string, p cli.Process) int {
	return cli.Run(ctx, args, p, &struct {
		Events event.CatalogCmd `cmd:""`
	}{})
}
