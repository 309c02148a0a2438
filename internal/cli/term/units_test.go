package term_test

import (
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/term"
)

func TestWaited(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 1840 * time.Millisecond: "1.8s", 59 * time.Second: "59s", 250*time.Second + 1: "4m10s", 51 * time.Hour: "2d3h",
	} {
		if got := term.Waited(d); got != want {
			t.Errorf("%v: %s; want %s", d, got, want)
		}
	}
}
