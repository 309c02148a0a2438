package cli

import (
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/internal/wire"
)

func TestAnAnswerThatComesTooLateHasAnExitCode(t *testing.T) {
	for code, want := range map[int]int{400: ExitRefused, 404: ExitRefused, 409: ExitClosed, 410: ExitClosed, 503: ExitRefused} {
		if got := exitOf(ClosedOr(fmt.Errorf("answer: %w", wire.Errorf(code, "refused")))); got != want {
			t.Errorf("a refusal with %d: exit code %d; want %d", code, got, want)
		}
	}
}
