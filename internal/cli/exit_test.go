package cli

import (
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

func TestAnAnswerThatComesTooLateHasAnExitCode(t *testing.T) {
	for code, want := range map[hookrouter.Code]int{400: ExitRefused, 404: ExitRefused, 409: ExitClosed, 410: ExitClosed, 503: ExitRefused} {
		if got := exitOf(ClosedOr(fmt.Errorf("answer: %w", &hookrouter.Error{Code: code, Text: "refused"}))); got != want {
			t.Errorf("a refusal with %d: exit code %d; want %d", code, got, want)
		}
	}
}
