package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// Gap is a range of missing segments, by number.
type Gap struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// gaps returns the gaps before and between the existing segments.
func gaps(numbers []int) (list []Gap) {
	next := 1
	for _, n := range slices.Sorted(slices.Values(numbers)) {
		if n > next {
			list = append(list, Gap{next, n - 1})
		}
		next = max(next, n+1)
	}
	return list
}

// name returns the names of the first and the last segment.
func (g Gap) name(prefix string) string {
	if g.From == g.To {
		return segmentName(prefix, g.From)
	}
	return segmentName(prefix, g.From) + " to " + segmentName(prefix, g.To)
}

// notThere describes a gap between segments.
func (g Gap) notThere(prefix string) string {
	return fmt.Sprintf("%s is not there, though segments before and after it are: keepers remove only the oldest", g.name(prefix))
}

// absent finds segments that are missing at the end, in the middle or at the beginning. The files
// may belong to several logs.
func (v *verification) absent() error {
	numbers := map[string][]int{} // by prefix
	for _, p := range v.parts {
		if n := p.number(); !p.headless() && n > 0 {
			numbers[p.header.Prefix] = append(numbers[p.header.Prefix], n)
		}
	}
	var lost []*part
	for _, prefix := range slices.Sorted(maps.Keys(numbers)) {
		pins, err := v.pinned(prefix)
		if err != nil {
			return err
		}
		parts, err := v.absentOf(prefix, numbers[prefix], pins)
		if err != nil {
			return err
		}
		lost = append(lost, parts...)
	}
	v.parts = append(lost, v.parts...)
	return nil
}

// absentOf finds the missing segments of one log, whose existing segments have these numbers. pins
// has the pin files of previously verified segments, by number.
func (v *verification) absentOf(prefix string, numbers []int, pins map[int]string) (lost []*part, err error) {
	add := func(g Gap, pin int, why string) { // the pin's number; 0 if no pin is involved
		p := &part{what: g.name(prefix), header: audit.Header{Origin: audit.Origin(prefix, segmentName(prefix, g.From)), Prefix: prefix}}
		p.report = audit.Report{Verdict: audit.Incomplete, Origin: p.header.Origin, Reason: why}
		if p.path = pins[pin]; p.path != "" && err == nil {
			p.pin, err = readPin(p.path)
			p.report.Differs = true
		}
		lost = append(lost, p)
	}
	if first := slices.Min(numbers); first < v.cmd.RemovedBefore {
		v.gone = append(v.gone, fmt.Sprintf("%s is there, though --removed-before %d says that it was removed", segmentName(prefix, first), v.cmd.RemovedBefore))
	}
	seen := slices.Sorted(maps.Keys(pins))
	for _, g := range gaps(numbers) {
		if g.From > 1 {
			add(g, 0, g.notThere(prefix))
			continue
		}
		before := v.cmd.RemovedBefore
		at := slices.IndexFunc(seen, func(n int) bool { return n <= g.To })
		switch {
		case before > g.To:
			v.gone = append(v.gone, fmt.Sprintf("a keeper removed %s, as --removed-before says", g.name(prefix)))
		case before > 0:
			g.From = before
			add(g, 0, fmt.Sprintf("%s is not there, and --removed-before says that it was not removed", g.name(prefix)))
		case v.from != "" && at >= 0:
			add(g, seen[at], fmt.Sprintf("%s was verified before, and is not there any more: where a keeper has removed all before %s, say so with --removed-before %d",
				segmentName(prefix, seen[at]), segmentName(prefix, g.To+1), g.To+1))
		default:
			v.gone = append(v.gone, fmt.Sprintf("%s is not there: nothing is proved of what was before %s", g.name(prefix), segmentName(prefix, g.To+1)))
		}
	}
	last := slices.Max(numbers)
	newest := 0
	if len(seen) > 0 {
		newest = seen[len(seen)-1]
	}
	if end := max(newest, v.signed); end > last {
		g := Gap{last + 1, end}
		pin := 0
		if newest > last {
			pin = newest
		}
		add(g, pin, fmt.Sprintf("there was a later segment, %s, and it is not there", g.name(prefix)))
	}
	return lost, err
}

// pinned returns the pin files of a log's previously verified segments, by number.
func (v *verification) pinned(prefix string) (map[int]string, error) {
	pins := map[int]string{}
	switch {
	case v.cmd.NoPin:
		return pins, nil
	case v.cmd.Pin != "":
		pin, err := readPin(v.cmd.Pin)
		if pin != nil {
			pins[numberOf(audit.Header{Origin: pin.Origin, Prefix: prefix})] = v.cmd.Pin
			delete(pins, 0) // a pin of another log
		}
		return pins, err
	}
	err := eachPin(v.env.Getenv, prefix, func(n int, path string) {
		if v.ours(path) {
			pins[n] = path
		}
	})
	return pins, err
}
