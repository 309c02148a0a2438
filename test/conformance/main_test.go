package conformance

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	if os.Getenv(envBridge) != "" {
		if err := bridge(context.Background(), os.Getenv("NATS_URL"), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bridge:", err)
			os.Exit(1)
		}
		return
	}
	testkit.Parallel(26) // more than there are lanes: cases wait for time-outs
	os.Exit(m.Run())
}
