package conformance

import (
	"os"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(12) // as many as there are lanes: cases wait for time-outs
	os.Exit(m.Run())
}
