package redact

import (
	"bytes"
	"slices"
)

// span is a secret in a text.
type span struct {
	start, end int
	kind       string
	whole      bool // a whole JSON value, so the replacement needs quotes
}

// settle removes spans that are empty, allowed or already masked, and merges spans that overlap:
// the result has the kind of the first one. A span includes either all of a marker or none of it,
// so that each pass leaves fewer bytes to search.
func (m *matcher) settle(text []byte, found []span) []span {
	found = slices.DeleteFunc(found, func(s span) bool {
		return s.start >= s.end || m.allow.has(text[s.start:s.end])
	})
	if len(found) > 0 && bytes.Contains(text, []byte(markerStart)) {
		for i := range found {
			m.spare(text, &found[i])
		}
		found = slices.DeleteFunc(found, func(s span) bool { return s.start >= s.end })
	}
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b span) int { return a.start - b.start })
	merged := found[:1]
	for _, s := range found[1:] {
		if last := &merged[len(merged)-1]; s.start < last.end {
			last.end = max(last.end, s.end)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// spare empties a span within a marker, and extends any other span to all of the markers that it
// overlaps.
func (m *matcher) spare(text []byte, s *span) {
	const most = len(markerStart) + maxName + 1
	from, to := max(0, s.start-most), min(len(text), s.end+most)
	for at := range m.marked(text[from:to]) {
		at.start += from
		at.end += from
		switch {
		case at.start <= s.start && s.end <= at.end:
			s.end = s.start
			return
		case s.start < at.end && at.start < s.end:
			s.start, s.end = min(s.start, at.start), max(s.end, at.end)
		}
	}
}
