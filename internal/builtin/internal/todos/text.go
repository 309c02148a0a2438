package todos

import (
	"fmt"
	"strings"
)

// barWidth is how many characters show how much is done.
const barWidth = 20

// marks are what precedes a task.
var marks = map[Status]string{Pending: "○", InProgress: "▶", Completed: "✓"}

// Text is the list, one task a line, each with a mark of its status.
func (l List) Text() string {
	lines := make([]string, len(l))
	for i, t := range l {
		lines[i] = marks[t.Status] + " " + t.Text
	}
	return strings.Join(lines, "\n")
}

// Bar shows how much is done: "████░░ 2/3".
func (l List) Bar() string {
	done := len(l) - len(l.Open())
	filled := 0
	if len(l) > 0 {
		filled = done * barWidth / len(l)
	}
	return fmt.Sprintf("%s%s %d/%d", strings.Repeat("█", filled), strings.Repeat("░", barWidth-filled), done, len(l))
}

// Summary is the list in one line: the bar, and what is worked on.
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
