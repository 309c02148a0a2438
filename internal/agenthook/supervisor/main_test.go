package supervisor_test

import (
	"os"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for programs
	os.Exit(m.Run())
}
