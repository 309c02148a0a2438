package clientconn_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Parallel(16) // they wait for further tries
	m.Run()
}
