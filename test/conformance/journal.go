package conformance

import "sync"

// call is one call of a scripted hook or contributor.
type call struct {
	id    string // what the case calls the hook
	event string // the ce-type it was called with
	data  any
}

// record is what was seen in one step.
type record struct {
	calls     []call  // in the order the router made them
	approvals []any   // the requests for approval, likewise
	problems  []error // what was seen and must not be
}

// journal is the log of a case's current step. Its methods may be called by
// several goroutines.
type journal struct {
	mu  sync.Mutex
	now record
}

func (j *journal) called(c call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now.calls = append(j.now.calls, c)
}

func (j *journal) asked(request any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now.approvals = append(j.now.approvals, request)
}

func (j *journal) problem(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now.problems = append(j.now.problems, err)
}

// turn returns the record of the step that is over and begins the next one.
func (j *journal) turn() record {
	j.mu.Lock()
	defer j.mu.Unlock()
	done := j.now
	j.now = record{}
	return done
}
