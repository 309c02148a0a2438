package hookctl_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // the tests wait for people, checkpoints and connections
	goleak.VerifyTestMain(m)
}
