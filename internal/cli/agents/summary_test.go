package agents

import (
	"testing"
	"time"
)

// A summary promises that everything except hooks stays, so a change that loses settings has none.
func TestNoSummaryOfLostSettings(t *testing.T) {
	t.Parallel()
	h := hooks{program: "hook-agent", timeout: time.Minute, target: targets()[0]}
	after, err := add(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	for before, want := range map[string]bool{"": true, "{}": true, `{"hooks": {}}`: true, `{"model": "opus"}`: false} {
		if _, got := (change{before: []byte(before), after: after}).summary(h); got != want {
			t.Errorf("from %q: a summary is %t, want %t", before, got, want)
		}
	}
}
