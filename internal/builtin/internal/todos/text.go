package todos

import (
	"fmt"
	"strings"
)

// barWidth is the width of the progress bar in characters.
const barWidth = 20

// marks precede a task, by its status.
var marks = map[Status]string{Pending: "○", InProgress: "▶", Completed: "✓"}

// Text returns the list, one task per line, each with a mark for its status.
func (l List) Text() string {
	lines := make([]string, len(l))
	for i, t := range l {
		lines[i] = marks[t.Status] + " " + t.Text
	}
	return strings.Join(lines, "\n")
}

// Bar returns a progress bar: "████░░ 2/3".
func (l List) Bar() string {
	done := len(l) - len(l.Open())
	filled := 0
	if len(l) > 0 {
		filled = done * barWidth / len(l)
	}
	return fmt.Sprintf("%s%s %d/%d", strings.Repeat("█", filled), strings.Repeat("░", barWidth-filled), done, len(l))
}

// Summary returns the list in one line: the bar, and the task in progress or a count.
func (l List) Summary() string {
	open := l.Open()
	for _, t := range open {
		if t.Status == InProgress {
			return l.Bar() + " " + marks[InProgress] + " " + t.Text
		}
	}
	if len(open) == 0 {
		return l.Bar() + " " + marks[Completed] + " complete"
	}
	return fmt.Sprintf("%s %d pending", l.Bar(), len(open))
}
