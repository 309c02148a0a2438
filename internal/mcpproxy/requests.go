package mcpproxy

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of the tables.
const (
	maxRequests  = 4096     // without a response
	maxCancelled = 64 << 10 // cancelled by the client; the server may still answer them
	maxTasks     = 1024
)

// entry is a request of the client without a response.
type entry struct {
	id     jsontext.Value
	method string
	call   *call // whose result the router judges; nil for a request that is only relayed
	task   bool  // the request is about a task that the call started

	// Guarded by the table's mutex:
	state  state
	cancel context.CancelFunc // cancels the question to the router; nil if there is none
}

// state is the state of a request.
type state int

const (
	asking    state = iota // the router is asked; the request was not sent to the server
	sent                   // sent to the server
	judging                // the router is asked about the result
	cancelled              // by the client while the router was asked
)

// requests has the client's requests without a response, and the tasks that calls started.
type requests struct {
	mu        sync.Mutex
	byKey     map[string]*entry
	cancelled map[string]struct{} // cancelled after they were sent: a response is dropped
	tasks     map[string]*call
	order     []string // of tasks, the oldest first
}

func newRequests() *requests {
	return &requests{byKey: map[string]*entry{}, cancelled: map[string]struct{}{}, tasks: map[string]*call{}}
}

// add adds a request. It returns the reason if it can't, otherwise "".
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

// send marks a call as sent and returns true. If the client has cancelled the call, it removes the
// call and returns false.
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

// answered returns the request for a response of the server; nil if there is none or the client has
// cancelled it. It removes the request unless the router judges the result, in which case cancel
// cancels that.
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

// done removes a request. It returns false if the client has cancelled it.
func (r *requests) done(key string, e *entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, key)
	return e.state != cancelled
}

// cancelRequest cancels a request for the client. It reports whether the cancellation must be
// forwarded to the server.
func (r *requests) cancelRequest(key string) (forward bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byKey[key]
	if e == nil {
		return true // already answered, or unknown: the server ignores it too
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

// isSent reports whether a request was sent to the server and has no response.
func (r *requests) isSent(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byKey[key]
	return e != nil && e.state == sent
}

// startTask records that a call started a task. It ignores an empty id.
func (r *requests) startTask(id string, c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id == "" || r.tasks[id] != nil {
		return // the id belongs to the first call that the server gave it
	}
	if len(r.order) >= maxTasks {
		delete(r.tasks, r.order[0])
		r.order = r.order[1:]
	}
	r.tasks[id] = c
	r.order = append(r.order, id)
}

// taskOf returns the call that started a task; nil if unknown.
func (r *requests) taskOf(id string) *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tasks[id]
}

// call is a request that the router judges: a tools/call, or a request that reads from the server.
type call struct {
	tool     string         // its name on the server, or the name that hooks see for a read
	method   string         // of a read; empty for tools/call
	input    []byte         // arguments of the tool, or parameters of the read
	params   []byte         // other parameters, such as _meta; nil for none
	answers  jsontext.Value // the client's answers to the server's questions; nil for none
	context  string         // context that hooks add to the result
	token    jsontext.Value // progress token; nil for none
	modern   bool           // the protocol revision has a resultType in results
	asTask   bool           // the client asked for a task
	began    time.Time      // when it was sent to the server
	duration time.Duration
}
