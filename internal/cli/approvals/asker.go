package approvals

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// settle is how long keys are ignored after an approval request appeared, so that keys meant
// for something else decide nothing.
const settle = 400 * time.Millisecond

// maxTyped is how many characters a note may have; the router's limit is 4 KiB.
const maxTyped = 1000

// service is where the asker looks up and answers approval requests.
type service struct {
	get    func(id string) (approval.Record, error)
	answer func(id string, a approval.Answer) (progress string, err error)
}

// asker shows a person one approval request after the other: a model of bubbletea, whose
// messages are [approval.Notice] and those below.
type asker struct {
	*term.Printer
	service service
	by      string
	now     func() time.Time

	width, height int
	queue         []approval.Request // the first is asked
	answered      map[string]bool    // here, where others must answer too
	record        *approval.Record   // of the first; nil until it is known
	shown         time.Time          // since when
	body          []term.Cell        // its text, as wide as the terminal
	top           int                // the first line of body that is seen
	choice        int                // the option that Enter gives; -1 for none
	scope         int                // what "Allow always" is for, of the record's scopes
	note          []rune
	typing        bool      // the note
	sending       bool      // an answer is under way
	said          term.Cell // what happened last
}

// The asker's messages.
type (
	recordMsg struct {
		id     string
		record approval.Record
		err    error
	}
	reviewedMsg recordMsg
	answerMsg   struct {
		question approval.Request
		option   string
		progress string // who must allow too
		err      error
	}
	tickMsg   struct{} // a second is over
	statusMsg string   // what happened to the connection
)

func newAsker(p *term.Printer, d service, by string) *asker {
	return &asker{Printer: p, service: d, by: by, now: time.Now, width: 80, height: 24, answered: map[string]bool{}}
}

// Init does nothing.
func (m *asker) Init() tea.Cmd { return nil }

// Update takes one message.
func (m *asker) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.take(msg)
	return m, cmd
}

func (m *asker) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), max(msg.Height, 8)
		m.wrap()
	case tickMsg:
		return m.load()
	case statusMsg:
		m.said = term.Yellow.Cell(term.Printable(string(msg)))
	case approval.Notice:
		return m.notice(msg)
	case recordMsg:
		return m.loaded(msg)
	case reviewedMsg:
		m.reviewed(msg)
	case answerMsg:
		return m.sent(msg)
	case tea.PasteMsg:
		if m.typing {
			m.typed(msg.Content)
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

// notice takes an approval request, or its end.
func (m *asker) notice(n approval.Notice) tea.Cmd {
	if n.Decision == nil && m.find(n.Request.ID) >= 0 {
		return m.review(n.Request)
	}
	if n.Decision == nil {
		if m.answered[n.Request.ID] {
			return nil
		}
		m.queue = append(m.queue, n.Request)
		if len(m.queue) == 1 {
			return m.load()
		}
		return nil
	}
	if i := m.find(n.Request.ID); i >= 0 && !(i == 0 && m.sending) {
		d := decision(*n.Decision)
		m.said = d.Color.Cell(term.Clip(term.OneLine(n.Request.Prompt), term.MaxValue) + "  " + d.Text)
		return m.drop(i)
	}
	return nil
}

// review looks up what others answered to an approval request that waits here.
func (m *asker) review(q approval.Request) tea.Cmd {
	if m.record == nil || m.record.ID != q.ID {
		return nil
	}
	return func() tea.Msg {
		r, err := m.service.get(q.ID)
		return reviewedMsg{q.ID, r, err}
	}
}

// reviewed shows it, and leaves choice and note as they are.
func (m *asker) reviewed(msg reviewedMsg) {
	if m.record == nil || m.record.ID != msg.id || msg.err != nil {
		return
	}
	m.record.Reviews, m.record.Progress = msg.record.Reviews, msg.record.Progress
	m.wrap()
}

func (m *asker) find(id string) int {
	return slices.IndexFunc(m.queue, func(q approval.Request) bool { return q.ID == id })
}

// drop removes an approval request from the queue.
func (m *asker) drop(i int) tea.Cmd {
	m.queue = slices.Delete(m.queue, i, i+1)
	if i > 0 {
		return nil
	}
	m.record = nil
	return m.load()
}

// load looks up the first approval request, once.
func (m *asker) load() tea.Cmd {
	if m.record != nil || len(m.queue) == 0 {
		return nil
	}
	id := m.queue[0].ID
	return func() tea.Msg {
		r, err := m.service.get(id)
		return recordMsg{id, r, err}
	}
}

// loaded shows an approval request. Only the record is shown, since anybody may publish a
// notice.
func (m *asker) loaded(msg recordMsg) tea.Cmd {
	if m.record != nil || len(m.queue) == 0 || m.queue[0].ID != msg.id {
		return nil
	}
	switch {
	case wire.CodeOf(msg.err) == wire.NotFound:
		return m.drop(0)
	case msg.err != nil:
		m.said = term.Red.Cell(term.Printable(msg.err.Error())) // the next tick tries again
		return nil
	case msg.record.Decision != nil:
		return m.notice(approval.Notice{Request: msg.record.Request, Decision: msg.record.Decision})
	}
	m.record, m.shown = &msg.record, m.now()
	m.top, m.scope, m.note, m.typing = 0, 0, nil, false
	m.choice = slices.IndexFunc(msg.record.Options, func(o string) bool { return !approval.Grants(o) })
	m.wrap()
	return nil
}

// answer sends the choice, for the data that is shown.
func (m *asker) answer() tea.Cmd {
	if m.choice < 0 {
		m.said = term.Yellow.Cell("choose an answer first")
		return nil
	}
	m.sending = true
	q, option := m.record.Request, m.record.Options[m.choice]
	a := approval.Answer{Option: option, By: m.by, Note: string(m.note), DataSHA256: q.DataSHA256}
	if m.scope > 0 {
		a.Scope = m.record.Scopes[m.scope]
	}
	return func() tea.Msg {
		progress, err := m.service.answer(q.ID, a)
		return answerMsg{q, option, progress, err}
	}
}

// sent goes on to the next approval request, unless the answer may be given again.
func (m *asker) sent(msg answerMsg) tea.Cmd {
	m.sending = false
	m.said = term.Green.Cell(term.Clip(term.OneLine(msg.question.Prompt), term.MaxValue) + "  answered: " + term.Printable(msg.option))
	if msg.progress != "" {
		m.answered[msg.question.ID] = true
		m.said.Text += "; " + term.Printable(msg.progress)
	}
	if msg.err != nil {
		m.said = term.Red.Cell(term.Printable(msg.err.Error()))
		switch wire.CodeOf(msg.err) {
		case wire.NotFound, wire.Conflict, wire.Gone:
		default:
			return nil
		}
	}
	if i := m.find(msg.question.ID); i >= 0 {
		return m.drop(i)
	}
	return nil
}

// later moves the approval request behind the others.
func (m *asker) later() tea.Cmd {
	if len(m.queue) < 2 {
		return nil
	}
	m.queue = append(m.queue[1:], m.queue[0])
	m.record = nil
	return m.load()
}
