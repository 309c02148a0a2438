package policy_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for connections
	goleak.VerifyTestMain(m)
}
