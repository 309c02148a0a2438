package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
)

// ErrOtherData means that the data to go on with is not what was approved.
var ErrOtherData = errors.New("the data of the verdict is not what was approved: do not go on, and look for who changed it")

// Execution is the verdict on an event, and how the hooks were run for it.
type Execution struct {
	verdict.Verdict
	Run
}

// Permitted reports whether to go on, with the data of the verdict. The zero
// Execution permits nothing.
func (x Execution) Permitted() bool { return x.Action == verdict.Continue }

// Decode reads the data to go on with into v.
func (x Execution) Decode(v any) error {
	return events.Event{Name: "verdict", Data: x.Data}.Decode(v)
}

// PendingError means that waiting for an approval request ended before a person answered it: ctx
// ended, or no router answered until a minute after the request expired. Nothing is permitted,
// and the request may still be answered.
type PendingError struct {
	Approval verdict.Approval // the approval request
	Err      error            // why the wait ended
}

// Error names the approval request and says why the wait ended.
func (e *PendingError) Error() string {
	return fmt.Sprintf("approval request %s of hook %q is still open as far as is known (it expires %s): %v",
		e.Approval.ID, e.Approval.Hook, e.Approval.Expires, e.Err)
}

// Unwrap returns why the wait ended.
func (e *PendingError) Unwrap() error { return e.Err }

// Execute runs the hooks of an event over data, makes the router carry out what they decide, and
// returns its verdict: continue or deny. data is that of [Agent.Emit]. Only
// [Execution.Permitted] is a permission; an error is none.
//
// If a hook asks a person, Execute waits until the approval request is decided. It sends the
// event again, with the same id, whenever a wait is over, the connection was lost, or no router
// answers. The decision holds whatever failed meanwhile; the hooks do not run again. The wait
// ends with a *[PendingError] when ctx ends, or a minute after the request expired; the clocks
// of agent and router must agree to less than that minute. Before an approval request is known,
// Execute retries for the client's Patience after the first failure; hooks that were called
// already may then run again.
//
// The router and the hooks get ctx's deadline, but 35 s at most.
func (a *Agent) Execute(ctx context.Context, event string, data any) (Execution, error) {
	reply, err := a.invoke(ctx, Call{Verb: VerbExecute, Name: event, Data: data})
	return deref(reply.Execution, err)
}

func (a *Agent) execute(ctx context.Context, event string, data any) (x Execution, err error) {
	header, body, err := a.event(ctx, event, data)
	if err != nil {
		return Execution{}, err
	}
	ctx, span := a.begin(ctx, VerbExecute, event, header)
	defer func() { end(span, string(x.Action), x.Run, err) }()
	if clientconn.EventID(ctx) != "" {
		header[wire.HeaderRetry] = []string{"1"} // it may have an approval request
	}
	w := waiter{conn: a.conn, onPending: a.options.OnPending}
	w.request = clientconn.Request{Subject: a.conn.Transport.Event("execute", event), Header: header, Body: body, Retry: clientconn.Never, Accept: about(header)}
	x, err = w.decide(ctx)
	if err != nil {
		return Execution{}, fmt.Errorf("execute %s: %w", event, err)
	}
	return x, nil
}

// readExecution reads an answer and rejects a verdict that can't be obeyed.
func readExecution(msg *natsx.Message) (Execution, error) {
	v, err := verdict.Parse(msg.Data)
	if err != nil {
		return Execution{}, fmt.Errorf("read the answer: %w", err)
	}
	switch {
	case v.Action == verdict.Pending && v.Approval == nil:
		return Execution{}, errors.New("read the answer: it is pending without an approval request")
	case v.Action == verdict.Continue && v.Approval != nil && digest(v.Data) != v.Approval.DataSHA256:
		return Execution{}, ErrOtherData
	}
	return Execution{v, readRun(msg.Header)}, nil
}

// digest is approval.Digest: to import that package would link a YAML parser into every agent.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
