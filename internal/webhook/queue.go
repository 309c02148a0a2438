package webhook

import "sync"

// queue holds the messages that wait for one receiver. Agents take turns, and a full queue drops a
// message of the agent with the most, so that a flood from one agent neither displaces nor delays
// messages about others. It is safe for concurrent use.
type queue struct {
	limit int
	added chan struct{} // holds an element after a message was added

	mu    sync.Mutex // guards the fields below
	size  int
	turns []*backlog // of agents with messages; the first has the next turn
}

// backlog holds the messages of one agent, the oldest first.
type backlog struct {
	agent    string
	messages []message
}

func newQueue(limit int) *queue { return &queue{limit: limit, added: make(chan struct{}, 1)} }

// put adds a message. It returns the message that it drops to make room; ok is false if there is
// none.
func (q *queue) put(m message) (dropped message, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	of := q.of(m.agent)
	of.messages = append(of.messages, m)
	if q.size++; q.size > q.limit {
		dropped, ok = q.drop(), true
	}
	select {
	case q.added <- struct{}{}:
	default:
	}
	return dropped, ok
}

// of returns the backlog of an agent, and creates it if missing. The caller holds mu.
func (q *queue) of(agent string) *backlog {
	for _, b := range q.turns {
		if b.agent == agent {
			return b
		}
	}
	b := &backlog{agent: agent}
	q.turns = append(q.turns, b)
	return b
}

// drop removes the newest message of the longest backlog. The caller holds mu.
func (q *queue) drop() message {
	longest := 0
	for i, b := range q.turns {
		if len(b.messages) >= len(q.turns[longest].messages) {
			longest = i
		}
	}
	b := q.turns[longest]
	end := len(b.messages) - 1
	m := b.messages[end]
	b.messages[end] = message{}
	if b.messages = b.messages[:end]; end == 0 {
		q.turns = append(q.turns[:longest], q.turns[longest+1:]...)
	}
	q.size--
	return m
}

// take removes the next message; ok is false if there is none.
func (q *queue) take() (m message, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size == 0 {
		return m, false
	}
	b := q.turns[0]
	m, b.messages[0] = b.messages[0], message{}
	b.messages = b.messages[1:]
	q.turns = q.turns[1:]
	if len(b.messages) > 0 {
		q.turns = append(q.turns, b)
	}
	q.size--
	return m, true
}

// len returns the number of messages.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size
}
