package agents

import (
	"fmt"
	"slices"
	"strings"
)

// diff returns the removed and added lines of the change. The edits of this package keep the order
// of lines, so this needs no general diff algorithm.
func (c change) diff() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.title())
	if c.after == nil {
		return b.String()
	}
	was, is := lines(c.before), lines(c.after)
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(was) > 0 && len(is) > 0 && was[0] == is[0]:
			was, is = was[1:], is[1:]
		case len(is) > 0 && (len(was) == 0 || !slices.Contains(was, is[0])):
			fmt.Fprintf(&b, "  + %s\n", is[0])
			is = is[1:]
		case len(was) > 0 && (len(is) == 0 || !slices.Contains(is, was[0]) || len(was) > len(is)):
			fmt.Fprintf(&b, "  - %s\n", was[0])
			was = was[1:]
		default:
			fmt.Fprintf(&b, "  + %s\n", is[0])
			is = is[1:]
		}
	}
	return b.String()
}

// title returns the path of the file, and whether it is new or removed.
func (c change) title() string {
	switch {
	case c.before == nil:
		return c.path + " (new)"
	case c.after == nil:
		return c.path + " (removed)"
	}
	return c.path
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
