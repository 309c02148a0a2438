package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/testkit"
)

// caseLimit is far beyond the longest case of the suite.
const caseLimit = 2 * time.Minute

// TestConformance replays the suite. Each lane is a router with a prefix of its
// own; the cases of a lane run one after another, the lanes side by side.
func TestConformance(t *testing.T) {
	t.Parallel()
	cases, err := Load("testdata/public.json")
	if err != nil {
		t.Fatal(err)
	}
	if testkit.CurrentTier(t) == testkit.Smoke {
		hurry(cases)
	}
	// The slowest come first: no lane begins with one when the others are done.
	slices.SortStableFunc(cases, func(a, b Case) int { return cmp.Compare(b.slowest(), a.slowest()) })
	start := starter(t)
	var targets []Target
	for _, prefix := range lanes(t) {
		targets = append(targets, start(prefix))
	}

	var next, passed, failed, skipped atomic.Int64 // next is the case that a free lane takes
	t.Run("lanes", func(t *testing.T) {
		for _, target := range targets {
			t.Run(target.Prefix, func(t *testing.T) {
				t.Parallel()
				served, err := ServesExecute(t.Context(), target)
				if err != nil {
					t.Fatal(err)
				}
				for at := next.Add(1); at <= int64(len(cases)); at = next.Add(1) {
					c := cases[at-1]
					t.Run(c.Name, func(t *testing.T) {
						if c.Executes() && !served {
							skipped.Add(1)
							t.Skip("execute: not served yet")
						}
						ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
						defer cancel()
						if err := Run(ctx, target, c); err != nil {
							failed.Add(1)
							t.Errorf("case %s:\n%v", c.Name, err)
							return
						}
						passed.Add(1)
					})
				}
			})
		}
	})
	fmt.Printf("conformance: %d passed, %d failed, %d skipped (execute)\n",
		passed.Load(), failed.Load(), skipped.Load())
}

// hurry has hooks of cases with a time limit sleep a little longer than that, and no longer: a
// router that waits for one of them is late all the same.
func hurry(cases []Case) {
	const beyond = 300
	for _, c := range cases {
		var limit int
		if len(c.Steps) != 1 || json.Unmarshal(c.Steps[0].Expect["max_elapsed_ms"], &limit) != nil {
			continue
		}
		for i := range c.Handlers {
			c.Handlers[i].Behavior.SleepMS = min(c.Handlers[i].Behavior.SleepMS, limit+beyond)
		}
		for i := range c.Contributors {
			c.Contributors[i].Behavior.SleepMS = min(c.Contributors[i].Behavior.SleepMS, limit+beyond)
		}
	}
}

// slowest is the longest time in whole seconds that a hook or contributor of the case takes.
func (c Case) slowest() (seconds int) {
	ms := 0
	for _, h := range c.Handlers {
		ms = max(ms, h.Behavior.SleepMS)
	}
	for _, contributor := range c.Contributors {
		ms = max(ms, contributor.Behavior.SleepMS)
	}
	return ms / 1000
}
