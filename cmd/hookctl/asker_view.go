package main

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// maxWrapped bounds the lines of a question's text on a terminal.
const maxWrapped = 5000

// View shows the question.
func (m *asker) View() tea.View {
	var lines []string
	if m.record == nil {
		lines = m.idle()
	} else {
		lines = m.question()
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	return v
}

func (m *asker) idle() []string {
	what := "no question waits for an answer; Ctrl-C leaves"
	if len(m.queue) > 0 {
		what = "looking the question up; Ctrl-C leaves"
	}
	return []string{m.cut(cell{what, dim}), "", m.cut(m.said)}
}

// question shows the head, as much of the text as there is room for, the options,
// the note, and the keys.
func (m *asker) question() []string {
	page := m.page()
	seen := m.body[m.top:min(m.top+page, len(m.body))]
	lines := []string{m.head(), m.rule("")}
	for _, line := range seen {
		lines = append(lines, m.cut(line))
	}
	for range page - len(seen) {
		lines = append(lines, "")
	}
	more := ""
	if len(m.body) > page {
		more = fmt.Sprintf(" lines %d to %d of %d; PgUp and PgDn show more ", m.top+1, m.top+len(seen), len(m.body))
	}
	lines = append(lines, m.rule(more))
	first, options := m.visibleOptions()
	for i, option := range options {
		line := cell{"  " + printable(option), optionColor(option)}
		if first+i == m.choice {
			line = cell{"> " + printable(option), bold + ";" + optionColor(option)}
		}
		lines = append(lines, m.cut(line))
	}
	return append(lines, m.noteLine(), m.cut(m.said), m.cut(m.keys()))
}

// head says who asks and how much time is left.
func (m *asker) head() string {
	time := left(m.record.Expires, m.now())
	right := time.text + " left"
	who := printable(m.record.Hook) + " asks"
	if n := len(m.queue); n > 1 {
		who = fmt.Sprintf("%s  (%d more wait)", who, n-1)
	}
	who = ansi.Truncate(who, max(m.width-len(right)-2, 1), "…")
	gap := strings.Repeat(" ", max(m.width-ansi.StringWidth(who)-len(right), 1))
	return m.paint(bold, who) + gap + m.paint(time.color, right)
}

func (m *asker) keys() cell {
	switch {
	case m.typing:
		return cell{"Enter keeps the note, Esc drops it", dim}
	case m.sending:
		return cell{"sending the answer", dim}
	}
	return cell{"↑↓ choose · Enter answers · n note · Tab later · Ctrl-C leaves without an answer", dim}
}

// noteLine shows the end of the note, where somebody types.
func (m *asker) noteLine() string {
	text := string(m.note)
	if m.typing {
		text += "▏"
	}
	if over := ansi.StringWidth(text) - (m.width - len("  note: ")); over > 0 {
		text = ansi.TruncateLeft(text, over+1, "…")
	}
	return m.paint(dim, "  note: ") + text
}

// wrap makes the text of the question as wide as the terminal.
func (m *asker) wrap() {
	if m.record == nil {
		return
	}
	m.body = nil
	list := sections(*m.record)
	m.addSection(list[0]) // the prompt
	m.add(cell{})
	for _, row := range recordRows(*m.record, m.now())[2:] { // id and time stand elsewhere
		m.add(cell{fmt.Sprintf("%-8s %s", row[0].text, row[1].text), plain})
	}
	for _, s := range list[1:] {
		m.add(cell{})
		m.addSection(s)
	}
	m.scroll(0)
}

func (m *asker) addSection(s section) {
	m.add(cell{s.head, dim})
	for _, line := range s.lines {
		m.add(line)
	}
}

// add adds a line, wrapped.
func (m *asker) add(line cell) {
	for part := range strings.SplitSeq(ansi.Hardwrap(line.text, m.width, true), "\n") {
		switch len(m.body) {
		case maxWrapped:
			return
		case maxWrapped - 1:
			part = "… cut here; `hookctl approvals show` shows more"
		}
		m.body = append(m.body, cell{part, line.color})
	}
}

// cut paints a line that fits the width.
func (m *asker) cut(line cell) string {
	return m.paint(line.color, ansi.Truncate(line.text, m.width, "…"))
}

func (m *asker) rule(text string) string {
	text = ansi.Truncate(text, m.width, "…")
	return m.paint(dim, text+strings.Repeat("─", max(m.width-ansi.StringWidth(text), 0)))
}

// optionColor tells what grants from what denies.
func optionColor(option string) string {
	if approval.Grants(option) {
		return green
	}
	return red
}
