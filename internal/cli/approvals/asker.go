package approvals

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// settle is how long keys are ignored after an approval request appears, so that a key meant for
// something else does not decide it.
const settle = 400 * time.Millisecond

// maxTyped is the maximum length of a note in characters. The router's limit is 4 KiB.
const maxTyped = 1000

// service looks up and answers approval requests.
type service struct {
	get    func(id string) (approval.Record, error)
	answer func(id string, a approval.Answer) (progress string, err error)
}

// asker shows one approval request after the other. It is a bubbletea model; its messages are
// [approval.Notice] and those below.
type asker struct {
	*term.Printer
	service service
	by      string
	now     func() time.Time

	width, height int
	queue         []approval.Request // the first one is shown
	answered      map[string]bool    // answered here, but others must answer too
	record        *approval.Record   // of the first request; nil until it is loaded
	shown         time.Time          // when the request appeared
	body          []term.Cell        // its text, wrapped to the width of the terminal
	top           int                // the first visible line of body
	choice        int                // the selected option; -1 for none
	scope         int                // of "Allow always": index into the record's scopes
	note          []rune
	typing        bool      // the note is being typed
	sending       bool      // an answer is in flight
	said          term.Cell // the last status message
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
		progress string // who else must allow
		err      error
	}
	tickMsg   struct{} // sent every second
	statusMsg string   // the status of the connection
)

func newAsker(p *term.Printer, d service, by string) *asker {
	return &asker{Printer: p, service: d, by: by, now: time.Now, width: 80, height: 24, answered: map[string]bool{}}
}

// Init does nothing.
func (m *asker) Init() tea.Cmd { return nil }

// Update handles one message.
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

// notice handles a new approval request, or the end of one.
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

// review looks up what others answered to the approval request that is shown.
func (m *asker) review(q approval.Request) tea.Cmd {
	if m.record == nil || m.record.ID != q.ID {
		return nil
	}
	return func() tea.Msg {
		r, err := m.service.get(q.ID)
		return reviewedMsg{q.ID, r, err}
	}
}

// reviewed shows the reviews. The choice and the note stay as they are.
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

func (m *asker) drop(i int) tea.Cmd {
	m.queue = slices.Delete(m.queue, i, i+1)
	if i > 0 {
		return nil
	}
	m.record = nil
	return m.load()
}

// load looks up the first approval request, unless it is already loaded.
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

// loaded shows an approval request. It shows only the record, because anybody can publish a notice.
func (m *asker) loaded(msg recordMsg) tea.Cmd {
	if m.record != nil || len(m.queue) == 0 || m.queue[0].ID != msg.id {
		return nil
	}
	switch {
	case wire.CodeOf(msg.err) == wire.NotFound:
		return m.drop(0)
	case msg.err != nil:
		m.said = term.Red.Cell(term.Printable(msg.err.Error())) // the next tick retries
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

// answer sends the selected option, for the data that is shown.
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

// sent moves on to the next approval request, unless the answer failed and can be retried.
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

// later moves the approval request to the end of the queue.
func (m *asker) later() tea.Cmd {
	if len(m.queue) < 2 {
		return nil
	}
	m.queue = append(m.queue[1:], m.queue[0])
	m.record = nil
	return m.load()
}
