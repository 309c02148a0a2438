package why

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/why"
)

// hooks prints what each hook did: first the one that decided, then those that have something to
// report, and others as space permits.
func (s screen) hooks(story why.Story) {
	shown := map[int]bool{}
	for _, wanted := range [...]func(why.Hook) bool{
		story.Decided,
		func(h why.Hook) bool { return !dull(h) },
		func(why.Hook) bool { return true },
	} {
		for i, h := range story.Hooks {
			if len(shown) < maxHooks && wanted(h) {
				shown[i] = true
			}
		}
	}
	s.Print("\n")
	room, column := maxDetails, 0
	for i, h := range story.Hooks {
		if id := ansi.StringWidth(term.Printable(h.ID)); shown[i] && id <= maxColumn {
			column = max(column, id)
		}
	}
	for i, h := range story.Hooks {
		if shown[i] {
			room = s.hook(h, column, story.Decided(h), room)
		}
	}
	if hidden := len(story.Hooks) - len(shown); hidden > 0 {
		s.Print("%s\n", s.Paint(term.Dim, fmt.Sprintf("  … and %d more, which --json lists", hidden)))
	}
}

// dull reports whether a hook has nothing to report.
func dull(h why.Hook) bool {
	return h.Skipped || h.Action == "continue" && !h.Changed && h.Failure == ""
}

// maxColumn is the length of the longest id with which others are aligned.
const maxColumn = 32

// hook prints a line with what the hook did at a column, and details as space permits. It returns
// the remaining space.
func (s screen) hook(h why.Hook, column int, decided bool, room int) int {
	color, did := term.Plain, h.Action
	switch {
	case h.Failure != "" && h.FailedOpen:
		color, did = term.Yellow, "failed ("+h.Failure+"), let pass"
	case h.Failure != "":
		color, did = term.Red, "failed ("+h.Failure+")"
	case h.Action == "in_vain":
		color, did = term.Dim, "answer discarded: another hook denied or added labels"
	case h.Skipped:
		color, did = term.Dim, "skipped: its match was false"
	case decided:
		color = term.Bold
	}
	if h.Shadow {
		did += ", in shadow"
	}
	id := term.Printable(h.ID)
	text := "  " + id + strings.Repeat(" ", max(column-ansi.StringWidth(id), 0)) + "  " + term.Printable(did)
	if !h.Skipped {
		text += "  " + term.Micros(h.Micros)
	}
	s.Print("%s\n", s.Paint(color, ansi.Truncate(text, width, "…")))
	lines := details(h, decided, width-4)
	for i, line := range lines {
		if room == 0 {
			break
		}
		if room--; room == 0 && i < len(lines)-1 {
			line = term.Dim.Cell(fmt.Sprintf("… %s more", term.Plural(len(lines)-i, "line")))
		}
		s.Print("%s\n", s.Paint(line.Color, ansi.Truncate("    "+line.Text, width, "…")))
	}
	return room
}

// details returns what a hook answered and changed, without what the head shows for the deciding
// hook.
func details(h why.Hook, decided bool, width int) (lines []term.Cell) {
	if h.Rule != "" && !decided {
		lines = append(lines, term.Dim.Cell(term.Printable(h.RuleText)))
	}
	if h.Policy != "" {
		lines = append(lines, term.Dim.Cell("policy "+term.Printable(h.Policy)))
	}
	if h.Error != "" {
		for _, line := range term.Wrap(term.Printable(h.Error), width) {
			lines = append(lines, term.Red.Cell(line))
		}
	}
	changes := jsonedit.DiffLines(h.Changes)
	if h.Changed && len(changes) == 0 {
		changes = []term.Cell{term.Dim.Cell("changed the data; what, is not recorded")}
	}
	return append(lines, changes...)
}
