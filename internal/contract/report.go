package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report is the result of the checks of one hook.
type Report struct {
	// Hook is the id of the hook.
	Hook string `json:"hook"`
	// OK tells whether every check passed, and there was one.
	OK bool `json:"ok"`
	// Checks are in the order in which they were made.
	Checks []Check `json:"checks"`
	// Took is how long all of it took, in nanoseconds.
	Took time.Duration `json:"took_ns"`
}

// Check is the result of one check.
type Check struct {
	// Name says what the hook was given: "an empty object".
	Name string `json:"name"`
	// Event is the event, or the channel of a contributor; empty for a check of the
	// hook as a whole.
	Event string `json:"event,omitempty"`
	OK    bool   `json:"ok"`
	// Detail is what the hook answered, or what was wrong with it.
	Detail string `json:"detail,omitempty"`
	// Took is the time from the call to the answer, in nanoseconds.
	Took time.Duration `json:"took_ns"`
}

// Failed returns the checks that did not pass.
func (r Report) Failed() []Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.OK })
}

// String returns the report for people: a summary, a line per event, and a line per failed check.
func (r Report) String() string {
	var b strings.Builder
	verdict := "keeps the contract"
	if !r.OK {
		verdict = "BREAKS the contract"
	}
	fmt.Fprintf(&b, "hook %s %s: %d of %d checks passed in %s\n",
		r.Hook, verdict, len(r.Checks)-len(r.Failed()), len(r.Checks), r.Took.Round(time.Millisecond))
	for _, part := range r.byEvent() {
		title := part[0].Event
		title = cmp.Or(title, "the hook")
		passed, slowest := 0, time.Duration(0)
		for _, c := range part {
			if c.OK {
				passed++
			}
			slowest = max(slowest, c.Took)
		}
		fmt.Fprintf(&b, "  %s: %d of %d, the slowest in %s\n", title, passed, len(part), slowest.Round(10*time.Microsecond))
		for _, c := range part {
			if !c.OK {
				fmt.Fprintf(&b, "    FAILED %s: %s\n", c.Name, c.Detail)
			}
		}
	}
	return b.String()
}

// byEvent groups the checks by event, in the order in which events first occur.
func (r Report) byEvent() [][]Check {
	place := map[string]int{}
	var parts [][]Check
	for _, c := range r.Checks {
		i, known := place[c.Event]
		if !known {
			i = len(parts)
			place[c.Event] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], c)
	}
	return parts
}
