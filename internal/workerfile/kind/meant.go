package kind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/workerfile/claudecode"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// DoubtEvent says that an event, or a pattern of some, is no standard one and what it was
// probably meant to be. Nil is for a standard one, and for one that may well be of an
// application.
func DoubtEvent(pattern string) error {
	if meant := meantEvent(pattern); meant != "" {
		return fmt.Errorf("there is no standard event %s: did you mean %s?", pattern, meant)
	}
	return nil
}

// meantEvent is the standard event, or the domain of some, that a pattern which names
// none was probably meant to be: a slip away, or a name of Claude Code. It is empty where
// the pattern may well be of an application.
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
	if theirs := claudecode.Events(name); len(theirs) > 0 && !isDomain {
		return strings.Join(theirs, " or ")
	}
	best := ClosestWithin(1+len(name)/12, name, known)
	if best != "" && isDomain {
		best += ":*"
	}
	return best
}
