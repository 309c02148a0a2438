package mcpproxy

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what is remembered of a client.
const (
	maxRequests  = 4096     // that have no response yet
	maxCancelled = 64 << 10 // that the client cancelled, and the server may still answer
	maxTasks     = 1024
)

// entry is a request of the client that has no response yet.
type entry struct {
	id     jsontext.Value
	method string
	call   *call // whose result is judged; nil for a request that is relayed as it is
	task   bool  // it asks about a task that the call started

	// Guarded by the table's mutex:
	state  state
	cancel context.CancelFunc // ends the question about it; nil if there is none
}

// state is where a request is.
type state int

const (
	asking    state = iota // the router is asked; the server does not know it
	sent                   // the server has it
	judging                // the router is asked about its result
	cancelled              // by the client, while the router was asked
)

// requests are the client's requests without a response, and the tasks that calls started.
type requests struct {
	mu        sync.Mutex
	byKey     map[string]*entry
	cancelled map[string]struct{} // sent, and then cancelled: whatever the server answers is dropped
	tasks     map[string]*call
	order     []string // of tasks, the oldest first
}

func newRequests() *requests {
	return &requests{byKey: map[string]*entry{}, cancelled: map[string]struct{}{}, tasks: map[string]*call{}}
}

// add enters a request. It reports why it can't; empty if it did.
func (r *requests) add(key string, e *entry) (refusal string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, isCancelled := r.cancelled[key]
	switch {
	case r.byKey[key] != nil || isCancelled:
		return "its id is that of another request without a response"
	case len(r.byKey) >= maxRequests || len(r.cancelled) >= maxCancelled:
		return "too many requests have no response yet"
	}
	r.byKey[key] = e
	return ""
}

// send marks a call as sent. It is false if the client has cancelled it meanwhile: then
// it is forgotten.
func (r *requests) send(key string, e *entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.state == cancelled {
		delete(r.byKey, key)
		return false
	}
	e.state, e.cancel = sent, nil
	return true
}

// answered takes the request that a response of the server is for; nil if there is none,
// or where the client has cancelled it. The request stays where its result is judged; cancel
// ends that then.
func (r *requests) answered(key string, judge bool, cancel context.CancelFunc) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.cancelled, key)
	e := r.byKey[key]
	if e == nil || e.state != sent {
		return nil
	}
	if judge && e.call != nil {
		e.state, e.cancel = judging, cancel
		return e
	}
	delete(r.byKey, key)
	return e
}

// done forgets a request. It is false if the client has cancelled it.
func (r *requests) done(key string, e *entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, key)
	return e.state != cancelled
}

// cancelRequest cancels a request for the client. It reports whether the server is to know.
func (r *requests) cancelRequest(key string) (forward bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byKey[key]
	if e == nil {
		return true // an id that was answered, or never was: the server ignores it too
	}
	if e.state == sent {
		delete(r.byKey, key)
		r.cancelled[key] = struct{}{}
		return true
	}
	e.state = cancelled
	if e.cancel != nil {
		e.cancel()
	}
	return false
}

// isSent reports whether the server has a request and has not answered it.
func (r *requests) isSent(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byKey[key]
	return e != nil && e.state == sent
}

// startTask remembers that a call goes on as a task. An empty id is of none.
func (r *requests) startTask(id string, c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id == "" || r.tasks[id] != nil {
		return // the first call that the server gave this id
	}
	if len(r.order) >= maxTasks {
		delete(r.tasks, r.order[0])
		r.order = r.order[1:]
	}
	r.tasks[id] = c
	r.order = append(r.order, id)
}

// taskOf is the call that started a task; nil if that is not known.
func (r *requests) taskOf(id string) *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tasks[id]
}

// call is a request that the router was asked about: a tools/call, or one that reads from the
// server.
type call struct {
	tool     string         // its name on the server, or what hooks see in its place
	method   string         // of a request that reads from the server; empty for tools/call
	input    []byte         // what it runs with
	params   []byte         // parameters beside the input, such as _meta; nil for none
	answers  jsontext.Value // what the client answers to the server's questions; nil for none
	context  string         // what hooks add to its result
	token    jsontext.Value // for progress; nil for none
	modern   bool           // results name their type
	asTask   bool           // the client wants a task
	began    time.Time      // when the server got it
	duration time.Duration
}
