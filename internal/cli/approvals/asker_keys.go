package approvals

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

func (m *asker) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.record == nil || m.sending || m.now().Sub(m.shown) < settle:
		return nil
	case m.typing:
		return m.noteKey(k)
	}
	switch name {
	case "up", "k":
		m.choose(m.choice - 1)
	case "down", "j":
		m.choose(m.choice + 1)
	case "pgdown", "space":
		m.scroll(m.page())
	case "pgup":
		m.scroll(-m.page())
	case "home":
		m.scroll(-len(m.body))
	case "end":
		m.scroll(len(m.body))
	case "n":
		m.typing = true
	case "f":
		m.widen()
	case "tab", "s":
		return m.later()
	case "enter":
		return m.answer()
	}
	return nil
}

// noteKey handles a key press while a note is typed.
func (m *asker) noteKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter", "tab":
		m.typing = false
	case "esc":
		m.typing, m.note = false, nil
	case "backspace":
		m.note = m.note[:max(len(m.note)-1, 0)]
	case "ctrl+u":
		m.note = nil
	default:
		m.typed(k.Text)
	}
	return nil
}

// typed appends text to the note, on one line.
func (m *asker) typed(text string) {
	for _, r := range text {
		if r == '\n' || r == '\t' || r == '\r' {
			r = ' '
		}
		if len(m.note) < maxTyped && !term.Unseen(r) {
			m.note = append(m.note, r)
		}
	}
}

func (m *asker) choose(i int) {
	m.choice, m.scope = min(max(i, 0), len(m.record.Options)-1), 0
}

// scoped reports whether the user can choose a scope for an option.
func (m *asker) scoped(option string) bool {
	return len(m.record.Scopes) > 0 && approval.Remembered(option)
}

// widen selects the next scope of "Allow always".
func (m *asker) widen() {
	if m.choice >= 0 && m.scoped(m.record.Options[m.choice]) {
		m.scope = (m.scope + 1) % len(m.record.Scopes)
	}
}

func (m *asker) scroll(lines int) {
	m.top = max(min(m.top+lines, len(m.body)-m.page()), 0)
}

// visibleOptions returns the options that fit around the selected one, and the index of the first.
func (m *asker) visibleOptions() (first int, list []string) {
	n := min(len(m.record.Options), max(m.height/4, 2))
	first = min(max(m.choice-n/2, 0), len(m.record.Options)-n)
	return first, slices.Clone(m.record.Options[first : first+n])
}

// page returns how many lines of the body are visible.
func (m *asker) page() int {
	const others = 6 // the head, two rules, the note, the status, the keys
	_, options := m.visibleOptions()
	return max(m.height-others-len(options), 1)
}
