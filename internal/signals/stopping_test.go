package signals_test

import (
	"context"
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/signals"
)

func TestStopping(t *testing.T) {
	for ends, want := range map[bool][]string{true: {"begin", "end"}, false: {"end"}} {
		ctx, cancel := context.WithCancel(t.Context())
		var told []string
		stopped := signals.Stopping(ctx, func() { told = append(told, "begin") }, func() { told = append(told, "end") })
		if ends {
			cancel()
		}
		stopped()
		cancel()
		if !slices.Equal(told, want) {
			t.Errorf("ctx ends: %t; told %q, want %q", ends, told, want)
		}
	}
}
