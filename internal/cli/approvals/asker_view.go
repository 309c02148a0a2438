package approvals

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// maxWrapped bounds the wrapped lines of an approval request's text.
const maxWrapped = 5000

// View renders the approval request.
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
	what := "no approval request is open; Ctrl-C leaves"
	if len(m.queue) > 0 {
		what = "looking up the approval request; Ctrl-C leaves"
	}
	return []string{m.cut(term.Dim.Cell(what)), "", m.cut(m.said)}
}

// question renders the head, as much of the text as fits, the options, the note, and the keys.
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
		line := optionColor(option).Cell("  " + term.Printable(option))
		if first+i == m.choice {
			line = (term.Bold + ";" + optionColor(option)).Cell("> " + term.Printable(option))
			if m.scoped(option) {
				line.Text += ", for the " + term.Printable(m.record.Scopes[m.scope]) + "; f changes it"
			}
		}
		lines = append(lines, m.cut(line))
	}
	return append(lines, m.noteLine(), m.cut(m.said), m.cut(m.keys()))
}

// head renders who asks and how much time is left.
func (m *asker) head() string {
	time := left(m.record.Expires, m.now())
	right := time.Text + " left"
	who := term.Printable(m.record.Hook) + " asks"
	if n := len(m.queue); n > 1 {
		who = fmt.Sprintf("%s  (%d more wait)", who, n-1)
	}
	who = ansi.Truncate(who, max(m.width-len(right)-2, 1), "…")
	gap := strings.Repeat(" ", max(m.width-ansi.StringWidth(who)-len(right), 1))
	return m.Paint(term.Bold, who) + gap + m.Paint(time.Color, right)
}

func (m *asker) keys() term.Cell {
	switch {
	case m.typing:
		return term.Dim.Cell("Enter keeps the note, Esc drops it")
	case m.sending:
		return term.Dim.Cell("sending the answer")
	}
	return term.Dim.Cell("↑↓ choose · Enter answers · n note · Tab later · Ctrl-C leaves without an answer")
}

// noteLine renders the note. While it is typed, only its end may be visible.
func (m *asker) noteLine() string {
	text := string(m.note)
	if m.typing {
		text += "▏"
	}
	if over := ansi.StringWidth(text) - (m.width - len("  note: ")); over > 0 {
		text = ansi.TruncateLeft(text, over+1, "…")
	}
	return m.Paint(term.Dim, "  note: ") + text
}

// wrap wraps the text of the approval request to the width of the terminal.
func (m *asker) wrap() {
	if m.record == nil {
		return
	}
	m.body = nil
	judged, more := sections(*m.record)
	for _, s := range judged {
		m.addSection(s)
		m.add(term.Cell{})
	}
	m.add(term.Plain.Cell("default  " + term.Printable(m.record.Default)))
	for _, row := range facts(*m.record) {
		m.add(term.Plain.Cell(fmt.Sprintf("%-8s %s", row[0].Text, row[1].Text)))
	}
	for _, s := range more {
		if len(s.Lines) > 0 {
			m.add(term.Cell{})
			m.addSection(s)
		}
	}
	m.scroll(0)
}

func (m *asker) addSection(s term.Section) {
	m.add(term.Dim.Cell(s.Head))
	for _, line := range s.Lines {
		m.add(line)
	}
}

// add wraps a line and appends it to the body.
func (m *asker) add(line term.Cell) {
	for _, part := range m.Rows(line, m.width) {
		switch len(m.body) {
		case maxWrapped:
			return
		case maxWrapped - 1:
			part = "… cut here; `hookctl approvals show` shows more"
		}
		m.body = append(m.body, line.Color.Cell(part))
	}
}

// cut paints a line, truncated to the width.
func (m *asker) cut(line term.Cell) string {
	return m.Paint(line.Color, ansi.Truncate(line.Text, m.width, "…"))
}

func (m *asker) rule(text string) string {
	text = ansi.Truncate(text, m.width, "…")
	return m.Paint(term.Dim, text+strings.Repeat("─", max(m.width-ansi.StringWidth(text), 0)))
}

// optionColor returns green for an option that grants, and red otherwise.
func optionColor(option string) term.Color {
	if approval.Grants(option) {
		return term.Green
	}
	return term.Red
}
