package kind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/workerfile/claudescript"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// CheckEventSpelling returns an error for an event name or pattern that is probably a misspelt
// standard event. It returns nil for standard events, and for names that may well be an
// application's own events.
func CheckEventSpelling(pattern string) error {
	if meant := meantEvent(pattern); meant != "" {
		return fmt.Errorf("there is no standard event %s: did you mean %s?", pattern, meant)
	}
	return nil
}

// meantEvent returns the standard event or domain that a pattern probably means: one with nearly
// the same spelling, or the counterpart of a Claude Code event. It returns "" if the pattern may be
// an application's own.
func meantEvent(pattern string) string {
	name, isDomain := strings.CutSuffix(pattern, ":*")
	var known []string
	for _, info := range events.Catalog() {
		for _, spelling := range append(info.Aliases, info.Name) {
			if domain, _, _ := strings.Cut(spelling, ":"); isDomain {
				spelling = domain
			}
			known = append(known, spelling)
		}
	}
	if pattern == "*" || slices.Contains(known, name) {
		return ""
	}
	if theirs := claudescript.Events(name); len(theirs) > 0 && !isDomain {
		return strings.Join(theirs, " or ")
	}
	best := ClosestWithin(1+len(name)/12, name, known)
	if best != "" && isDomain {
		best += ":*"
	}
	return best
}
