package conformance

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/nats-io/nats.go"
)

// Agent is a process that sends the events of cases with a client library: a bridge, as
// [Hooks] is one. Besides n, op and prefix, commands have
//
//	name       the event, the channel, or of handlers a pattern; of session "turn" or "end"
//	data       of the event, JSON as a text, to be sent as it is
//	session    of the event where its data names none; adds nothing to the data
//	defaults   the default fields, an object
//	timeout_s  as the step has it
//
// and the answer has a result:
//
//	emit           the HookResult
//	execute        the Verdict, which is not pending, with a member delivered
//	collect        the list
//	contributions  the list
//	handlers       the names by pattern
//	session        anything
//	begin          anything: a session of the library begins, with context and display
//	               "present", "none" or "failing", and messages in its context manager
//
// The member delivered is {"messages":[…],"transient":[…],"request":[…],"display":[…]}: what
// the session gave its context manager, and what it keeps for the next model call; the
// messages of that call; and what it showed.
type Agent struct{ *process }

// StartAgent starts a bridge that connects to the server at url. Close it.
func StartAgent(ctx context.Context, url string, command ...string) (*Agent, error) {
	p, err := start(ctx, url, command...)
	return &Agent{p}, err
}

// command is the request of an agent as a bridge gets it; ok is false where it is somebody
// else's.
func (t Target) command(subject string, header nats.Header, body []byte) (op string, members map[string]any, ok bool) {
	op, name, _ := strings.Cut(strings.TrimPrefix(subject, t.Prefix+"."), ".")
	members = map[string]any{"name": name, "session": attribute(header, "subject")}
	switch op {
	case OpEmit, OpExecute, "collect":
		members["name"], members["data"] = strings.ReplaceAll(name, ".", ":"), string(body)
	case "handlers":
		members["name"] = strings.ReplaceAll(name, ".", ":")
	case "contributions":
	case "session":
		members["session"] = sessionIn(body)
	default:
		return "", nil, false
	}
	if ms := header.Get(headerTimeout); ms != "" {
		members["timeout_s"] = json.RawMessage(ms + "e-3")
	}
	if defaults := header.Get(headerDefaults); defaults != "" {
		members["defaults"] = json.RawMessage(defaults)
	}
	return op, members, true
}

// begin has the library begin a session as the case wants it.
func (r *run) begin(ctx context.Context) error {
	if r.target.Agent == nil {
		return nil
	}
	_, err := r.target.Agent.ask(ctx, "begin", r.target.Prefix, map[string]any{
		"context": r.c.Config.ContextManager, "display": r.c.Config.DisplaySystem, "messages": r.c.ContextMessages,
	})
	return err
}
