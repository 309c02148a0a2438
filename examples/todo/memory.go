package todo

import (
	"context"
	"strings"
	"sync"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxSessions is how many sessions are remembered: those that never say they end
// must not fill the memory.
const maxSessions = 1000

// memory holds the open todos of sessions. The zero memory is empty and ready.
type memory struct {
	mu       sync.Mutex
	sessions map[string][]Todo // guarded by mu; the slices are never changed
}

// learn takes the todos that an agent gave to its todo tool.
func (m *memory) learn(ev events.Event) error {
	type item struct {
		Content string `json:"content"` // TodoWrite
		Step    string `json:"step"`    // update_plan
		Status  string `json:"status"`
	}
	var d events.ToolPostData
	if err := ev.Decode(&d); err != nil {
		return err
	}
	var input struct {
		Todos []item `json:"todos"`
		Plan  []item `json:"plan"`
	}
	if err := d.DecodeInput(&input); err != nil {
		return err
	}
	var open []Todo
	for _, i := range append(input.Todos, input.Plan...) {
		if text := strings.TrimSpace(i.Content + i.Step); text != "" && i.Status != "completed" && i.Status != "cancelled" {
			open = append(open, Todo{Text: text, Started: i.Status == "in_progress"})
		}
	}
	m.remember(ev.Session, open)
	return nil
}

func (m *memory) remember(session string, open []Todo) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, session)
	if session == "" || len(open) == 0 {
		return
	}
	if m.sessions == nil {
		m.sessions = map[string][]Todo{}
	}
	for other := range m.sessions {
		if len(m.sessions) < maxSessions {
			break
		}
		delete(m.sessions, other)
	}
	m.sessions[session] = open
}

func (m *memory) forget(session string) { m.remember(session, nil) }

func (m *memory) todos(_ context.Context, session string) ([]Todo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[session], nil
}
