package cli_test

import (
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"7d": 7 * 24 * time.Hour, "0d": 0, "99999d": 99999 * 24 * time.Hour, "1h30m": 90 * time.Minute,
		"-1d": -1, "100000d": -1, "1.5d": -1, "1d2h": -1, "-2h": -1, "d": -1, "": -1,
	} {
		if d, ok := cli.ParseDuration(text); ok != (want >= 0) || ok && d != want {
			t.Errorf("%q: %v, %v; want %v", text, d, ok, want)
		}
	}
}
