package console_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
)

// memory is a svc in memory.
type memory struct {
	mu       sync.Mutex
	records  []approval.Record // in the order they were asked
	watchers map[chan approval.Notice]struct{}
	who      []string        // of each answer that decided
	fails    error           // of every call
	lists    int             // calls of Pending
	filter   approval.Filter // of the last list
	afterGet func()          // once, when a record was read
}

func newMemory() *memory { return &memory{watchers: map[chan approval.Notice]struct{}{}} }

// approval request is an approval request that waits for an hour.
func question(id string) approval.Record {
	now := time.Now()
	data := []byte(`{"session_id":"s1","tool_name":"Bash","tool_input":{"command":"rm -rf build","count":90071992547409931}}`)
	return approval.Record{
		Request: approval.Request{
			ID: id, Session: "s1", Event: "tool:pre", Hook: "shell-guard", Prompt: "Run this command?",
			Options: []string{"Allow once", "Allow always", "Deny"}, Default: "deny",
			Created: approval.At(now), Expires: approval.At(now.Add(time.Hour)), DataSHA256: approval.Digest(data),
		},
		EventID: "e1", ChainID: "c1", HookID: "shell-guard", Agent: "/agents/coder", ToolName: "Bash", Reason: "it deletes files", Data: data,
		Changes: []byte(`[{"op":"replace","path":"/tool_input/command","value":"rm -rf build","old":"rm -rf /"}]`),
	}
}

func (m *memory) ask(r approval.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, r)
	m.tell(approval.Notice{Request: r.Request})
}

// reset leaves the svc with one approval request.
func (m *memory) reset(r approval.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = []approval.Record{r}
}

// askSilently asks without saying which approval request it was.
func (m *memory) askSilently(r approval.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, r)
	m.tell(approval.Notice{Lost: true})
}

func (m *memory) decide(id string) {
	_, _ = m.Answer(context.Background(), id, approval.Answer{Option: "Deny"}, "alice")
}

// decideSilently decides without saying so.
func (m *memory) decideSilently(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, err := m.find(id); err == nil {
		r.Decision = &approval.Decision{Option: "Deny", DecidedBy: "bob", Note: "no\x1b"}
	}
	m.tell(approval.Notice{Lost: true})
}

// elsewhere is an approval request of another session.
func elsewhere() approval.Record {
	q := question("elsewhere")
	q.Session = "s2"
	return q
}

func (m *memory) tell(n approval.Notice) {
	for watcher := range m.watchers {
		select {
		case watcher <- n:
		default:
		}
	}
}

func (m *memory) Pending(_ context.Context, f approval.Filter) (list []approval.Request, total int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lists++
	m.filter = f
	for _, r := range m.records {
		if r.Decision != nil || f.Session != "" && r.Session != f.Session {
			continue
		}
		total++
		if f.Limit == 0 || len(list) < f.Limit {
			list = append(list, r.Request)
		}
	}
	return list, total, m.fails
}

func (m *memory) find(id string) (*approval.Record, error) {
	if strings.ContainsAny(id, ".>") || len(id) > 128 {
		return nil, errors.New("the approvals service was asked for what is no id")
	}
	i := slices.IndexFunc(m.records, func(r approval.Record) bool { return r.ID == id })
	if i < 0 {
		return nil, wire.Errorf(wire.NotFound, "there is no approval %q", id)
	}
	return &m.records[i], m.fails
}

func (m *memory) Get(_ context.Context, id string) (approval.Record, error) {
	r, after, err := m.get(id)
	if after != nil {
		after()
	}
	return r, err
}

func (m *memory) get(id string) (record approval.Record, after func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.find(id)
	if err != nil {
		return record, nil, err
	}
	after, m.afterGet = m.afterGet, nil
	return *r, after, nil
}

// askAndDecide decides the approval request while somebody reads it for the first time.
func (m *memory) askAndDecide(r approval.Record, told chan<- struct{}) {
	m.mu.Lock()
	m.afterGet = func() {
		m.decide(r.ID)
		<-time.After(200 * time.Millisecond) // the page hears of it before it has the record
		close(told)
	}
	m.mu.Unlock()
	m.ask(r)
}

func (m *memory) Answer(_ context.Context, id string, a approval.Answer, who string) (approval.Decision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.find(id)
	if err != nil {
		return approval.Decision{}, err
	}
	if r.Decision != nil {
		return approval.Decision{}, wire.Errorf(wire.Conflict, "%s decided already: %s", r.DecidedBy, r.Option)
	}
	d, err := approval.Decide(r.Request, a, who, time.Now())
	switch {
	case errors.Is(err, approval.ErrExpired):
		return d, wire.Errorf(410, "%v", err)
	case errors.Is(err, approval.ErrOtherData):
		return d, wire.Errorf(wire.Conflict, "%v", err)
	case err != nil:
		return d, wire.Errorf(wire.Malformed, "%v", err)
	}
	r.Decision = &d
	m.who = append(m.who, who)
	m.tell(approval.Notice{Request: r.Request, Decision: &d})
	return d, nil
}

func (m *memory) Watch() (notices <-chan approval.Notice, stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := make(chan approval.Notice, 64)
	m.watchers[c] = struct{}{}
	return c, sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, c)
		close(c)
	})
}

func (m *memory) listed() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lists
}

// decision is what is recorded of an approval request, or nil.
func (m *memory) decision(id string) *approval.Decision {
	r, err := m.Get(context.Background(), id)
	if err != nil {
		return nil
	}
	return r.Decision
}

const token = "a-token-of-the-tests-that-is-long-enough"

var right = "Bearer " + token

func long(n int) string { return strings.Repeat("x", n) }
