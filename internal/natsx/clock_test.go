package natsx_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// The answer took a second, so a difference of up to a second may be the delay.
func TestASlowAnswerIsNoDifference(t *testing.T) {
	for name, c := range map[string]struct{ server, want time.Duration }{
		"sent at once":           {-time.Second, 0},
		"sent at the end":        {0, 0},
		"the server is ahead":    {5 * time.Minute, 5 * time.Minute},
		"the server is behind":   {-5 * time.Minute, -5*time.Minute + time.Second},
		"as little as it can be": {10 * time.Millisecond, 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var clock natsx.Clock
				sent := time.Now()
				time.Sleep(time.Second) //nolint:forbidigo // of the bubble's clock
				clock.Set(sent, time.Now().Add(c.server))
				time.Sleep(time.Minute) //nolint:forbidigo // of the bubble's clock
				if got := time.Until(clock.Now()); got != c.want {
					t.Errorf("it is %s off; want %s", got, c.want)
				}
			})
		})
	}
}
