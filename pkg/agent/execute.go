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

// ErrOtherData means that the verdict's data differs from the data that was approved.
var ErrOtherData = errors.New("the verdict's data is not what was approved: do not proceed, and find out who changed it")

// Execution is the verdict on an event, with details of the run of its hooks.
type Execution struct {
	verdict.Verdict
	Run
}

// Permitted reports whether to continue, with the verdict's data. It is false for the zero
// Execution.
func (x Execution) Permitted() bool { return x.Action == verdict.Continue }

// Decode decodes the data to continue with into v.
func (x Execution) Decode(v any) error {
	return events.Event{Name: "verdict", Data: x.Data}.Decode(v)
}

// PendingError means that the wait for an approval request ended before its decision: ctx ended, or
// no router had decided it a minute after it expired. Nothing is permitted, and the request may
// still be answered.
type PendingError struct {
	Approval verdict.Approval // the approval request
	Err      error            // why the wait ended
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("approval request %s of hook %q is still open as far as is known (it expires %s): %v",
		e.Approval.ID, e.Approval.Hook, e.Approval.Expires, e.Err)
}

func (e *PendingError) Unwrap() error { return e.Err }

// Execute runs the hooks of an event over data, has the router carry out what they decide, and
// returns the router's verdict: continue or deny. data is as for [Agent.Emit]. Continue only if
// [Execution.Permitted] returns true; an error permits nothing.
//
// If a hook asks a person, Execute waits for the decision on the approval request. It resends the
// event with the same id whenever a wait times out, the connection is lost or no router answers.
// The decision survives all of these, and the hooks do not run again. The wait ends with a
// *[PendingError] when ctx ends, or one minute after the request expired, so the clocks of agent
// and router must agree to within a minute. Until the approval request is known, Execute retries
// for the client's Patience after the first failure; hooks that were already called may then run
// again.
//
// The deadline of ctx applies to the router and the hooks, up to 35 s.
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

// readExecution parses a reply and rejects a verdict that can't be obeyed.
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

// digest duplicates approval.Digest: importing that package would link a YAML parser into every
// agent.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
