package audit

import (
	"errors"
	"fmt"
	"slices"
)

// anchor is a head known from another source.
type anchor struct {
	Pin
	format    Format // 0 if unknown
	what      string
	witnessed bool
}

// anchors collects the heads known from other sources.
func (v *verifier) anchors() error {
	if v.Pin != nil {
		if v.Pin.Size < 1 {
			return errors.New("the pin is of no log: its size is not 1 or more")
		}
		v.seen = append(v.seen, anchor{Pin: *v.Pin, what: "pinned"})
	}
	for _, signed := range v.Heads {
		c, witnessed, err := v.keys.Open(signed)
		if later, ok := errors.AsType[*UnknownFormatError](err); ok {
			return v.found(UnknownFormat, 0, "a head that was seen elsewhere: %v", later)
		}
		if err != nil {
			return fmt.Errorf("a head that was seen elsewhere: %w", err)
		}
		v.seen = append(v.seen, anchor{Pin{c.Origin, c.Size, c.Root}, c.Format, "seen elsewhere", witnessed})
	}
	slices.SortStableFunc(v.seen, func(a, b anchor) int { return int(min(max(a.Size-b.Size, -1), 1)) })
	return nil
}

// anchored compares the log with the anchors of its current size.
func (v *verifier) anchored() error {
	for len(v.seen) > 0 && v.seen[0].Size <= v.log.Size() {
		a := v.seen[0]
		if a.format = v.log.formatOf(a.Root); a.format == 0 {
			return v.differs(Diverged, a.Size, "another history: the %s head of size %d has the root %s, this log %s", a.what, a.Size, a.Root, v.log.roots())
		}
		if v.log.Format() == 0 {
			v.met = append(v.met, a)
		}
		v.known = true
		if a.witnessed {
			v.report.Witnessed = max(v.report.Witnessed, a.Size)
		}
		v.seen = v.seen[1:]
	}
	return nil
}
