package agent

import (
	"context"
	"errors"
	"time"
)

// Verb is the kind of a request to the router.
type Verb string

// The verbs that run hooks.
const (
	VerbEmit          Verb = "emit"          // [Agent.Emit]
	VerbExecute       Verb = "execute"       // [Agent.Execute]
	VerbCollect       Verb = "collect"       // [Agent.EmitAndCollect]
	VerbContributions Verb = "contributions" // [Agent.CollectContributions]
)

// Call is one request of an agent that runs hooks.
type Call struct {
	Verb    Verb
	Name    string        // of the event, or for VerbContributions of the channel
	Data    any           // of the event
	Timeout time.Duration // of each hook, for VerbCollect and VerbContributions
}

// Reply is the router's reply to a [Call]. Only the field for the call's verb is set.
type Reply struct {
	Answer     *Answer     // VerbEmit
	Execution  *Execution  // VerbExecute
	Collection *Collection // VerbCollect and VerbContributions
}

// Invoker makes a call.
type Invoker func(ctx context.Context, c Call) (Reply, error)

// Middleware wraps the calls of an agent that run hooks. It may inspect or change the call and the
// reply, or return without calling next. Set it in [Options].
type Middleware func(next Invoker) Invoker

// errNoReply reports a faulty middleware.
var errNoReply = errors.New("the middleware returned neither an error nor the reply of the call's verb")

// deref returns *reply, or an error if there is none.
func deref[T any](reply *T, err error) (T, error) {
	switch {
	case err != nil:
		return *new(T), err
	case reply == nil:
		return *new(T), errNoReply
	}
	return *reply, nil
}

// dispatch makes a call, below all middleware.
func (a *Agent) dispatch(ctx context.Context, c Call) (Reply, error) {
	switch c.Verb {
	case VerbEmit:
		answer, err := a.emit(ctx, c.Name, c.Data)
		return Reply{Answer: &answer}, err
	case VerbExecute:
		execution, err := a.execute(ctx, c.Name, c.Data)
		return Reply{Execution: &execution}, err
	case VerbCollect:
		collection, err := a.emitAndCollect(ctx, c)
		return Reply{Collection: &collection}, err
	case VerbContributions:
		collection, err := a.contributions(ctx, c)
		return Reply{Collection: &collection}, err
	}
	return Reply{}, errors.New("call the router: unknown verb " + string(c.Verb))
}
