//go:build !race

// The race detector makes sync.Pool drop items at random, so allocations are counted without it.

package redact_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/policy/redact"
)

func TestOrdinaryDataIsReturnedWithoutAnAllocation(t *testing.T) {
	for name, text := range ordinary {
		raw := []byte(text)
		redact.Default().Object(raw)
		if n := testing.AllocsPerRun(100, func() {
			if got, n := redact.Default().Object(raw); n != 0 || &got[0] != &raw[0] {
				t.Fatalf("%d replaced: %s", n, got)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	const text = "The tests pass. It took 12 s for 3 packages in /src."
	if n := testing.AllocsPerRun(100, func() {
		if got, n := redact.Default().Text(text); n != 0 || got != text {
			t.Fatal(got)
		}
	}); n != 0 {
		t.Errorf("a text: %v allocations", n)
	}
}
