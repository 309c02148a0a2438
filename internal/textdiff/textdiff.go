package textdiff

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Limits of a comparison.
const (
	// contextLines is the number of unchanged lines around a change.
	contextLines = 3
	// MaxLines is the maximum number of lines in a diff; further changes are counted.
	MaxLines = 600

	maxBytes = 512 << 10 // of both texts; larger ones are not compared
	maxWords = 2 << 10   // bytes of two lines whose words are compared
)

// Op is what happened to a line.
type Op string

// What can happen to a line.
const (
	Same    Op = " "
	Removed Op = "-"
	Added   Op = "+"
)

// Part is a part of a line.
type Part struct {
	Text    string `json:"text"`
	Changed bool   `json:"changed,omitempty"` // in a line of which another part stayed
}

// Line is one line without its line end.
type Line struct {
	Op    Op     `json:"op"`
	Parts []Part `json:"parts"`
}

// Text returns the whole line.
func (l Line) Text() string {
	var b strings.Builder
	for _, p := range l.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Hunk is a sequence of adjacent lines.
type Hunk struct {
	Old   int    `json:"old"` // number of the first line in the old text, from 1
	New   int    `json:"new"`
	Lines []Line `json:"lines"`
}

// Diff is the difference between two texts.
type Diff struct {
	Hunks   []Hunk `json:"hunks"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
	Hidden  int    `json:"hidden,omitempty"` // lines that are not in Hunks, but changed
}

// Of compares two texts.
func Of(before, after string) Diff {
	var lines []Line
	if len(before)+len(after) > maxBytes {
		lines = append(split(Removed, before), split(Added, after)...)
	} else {
		lines = compare(before, after)
	}
	d := Diff{}
	for _, l := range lines {
		switch l.Op {
		case Removed:
			d.Removed++
		case Added:
			d.Added++
		case Same:
		}
	}
	d.hunks(lines)
	return d
}

// compare returns all lines of both texts.
func compare(before, after string) (lines []Line) {
	at := 0
	for _, e := range udiff.Lines(before, after) {
		lines = append(lines, split(Same, before[at:e.Start])...)
		lines = append(lines, changed(split(Removed, before[e.Start:e.End]), split(Added, e.New))...)
		at = e.End
	}
	return append(lines, split(Same, before[at:])...)
}

func split(op Op, text string) (lines []Line) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		lines = append(lines, Line{op, []Part{{Text: line}}})
	}
	return lines
}

// changed marks the words that differ if each removed line has one added line as its counterpart.
func changed(removed, added []Line) []Line {
	if len(removed) == len(added) {
		for i := range removed {
			removed[i].Parts, added[i].Parts = words(removed[i].Parts[0].Text, added[i].Parts[0].Text)
		}
	}
	return slices.Concat(removed, added)
}

// hunks groups the changed lines with their context.
func (d *Diff) hunks(lines []Line) {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Op == Same {
			continue
		}
		for j := max(i-contextLines, 0); j <= min(i+contextLines, len(lines)-1); j++ {
			near[j] = true
		}
	}
	old, updated, shown := 1, 1, 0
	open := false
	for i, l := range lines {
		switch {
		case !near[i]:
			open = false
		case shown == MaxLines:
			if l.Op != Same {
				d.Hidden++
			}
		default:
			if !open {
				d.Hunks = append(d.Hunks, Hunk{Old: old, New: updated})
				open = true
			}
			last := &d.Hunks[len(d.Hunks)-1]
			last.Lines = append(last.Lines, l)
			shown++
		}
		if l.Op != Added {
			old++
		}
		if l.Op != Removed {
			updated++
		}
	}
}
