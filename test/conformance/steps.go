package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// do performs a step and returns its outcome, without the record of the calls,
// which is not complete yet.
func (r *run) do(ctx context.Context, s Step) (*outcome, error) {
	o := &outcome{}
	switch s.Op {
	case OpEmit, OpExecute, OpCollect:
		return r.send(ctx, s)
	case OpContributions:
		header := nats.Header{}
		setTimeout(header, s.TimeoutS)
		return timed(func(o *outcome) (err error) {
			o.list, err = requestJSON[[]any](ctx, r.target, r.target.subject("contributions", s.Channel), header, nil)
			return err
		})
	case OpList:
		return timed(func(o *outcome) (err error) {
			o.result, err = requestJSON[map[string]any](ctx, r.target, r.target.subject("handlers", s.Event), nil, nil)
			return err
		})
	case OpRegister:
		return o, r.bench.registerHook(ctx, s.register)
	case OpUnregister:
		return o, r.bench.unregister(ctx, s.unregister)
	case OpSetDefaultFields:
		r.defaults = s.Fields
		return o, nil
	case OpResetTurn:
		return o, r.tellSessions(ctx, "turn")
	case OpEndSession:
		r.context.reset()
		return o, r.freshSessions(ctx)
	case OpSleep:
		return o, wait(ctx, time.Duration(s.MS)*time.Millisecond)
	default:
		return nil, fmt.Errorf("unknown op %q", s.Op)
	}
}

// timed is the outcome that a request fills in, with the time it took.
func timed(request func(*outcome) error) (*outcome, error) {
	o := &outcome{}
	begin := time.Now()
	err := request(o)
	o.elapsed = time.Since(begin)
	return o, err
}

// send sends an event the way the step says.
func (r *run) send(ctx context.Context, s Step) (*outcome, error) {
	header, err := r.header(s)
	if err != nil {
		return nil, err
	}
	switch s.Op {
	case OpEmit:
		return timed(func(o *outcome) (err error) {
			o.result, err = requestJSON[map[string]any](ctx, r.target, r.target.subject("emit", s.Event), header, s.Data)
			return err
		})
	case OpCollect:
		return timed(func(o *outcome) (err error) {
			o.list, err = requestJSON[[]any](ctx, r.target, r.target.subject("collect", s.Event), header, s.Data)
			return err
		})
	default:
		o, err := timed(func(o *outcome) (err error) {
			o.result, err = r.execute(ctx, s.Event, header, s.Data)
			return err
		})
		if err != nil {
			return nil, err
		}
		return o, r.act(o)
	}
}

// header is the header of a step's event. In a case that executes it names the
// session, the same that the data names where it does.
func (r *run) header(s Step) (nats.Header, error) {
	header := nats.Header{}
	if r.c.Executes() {
		session := sessionIn(s.Data)
		if session == "" {
			session = r.sessions[0]
		}
		header = eventHeader(s.Event, session)
	}
	setTimeout(header, s.TimeoutS)
	return header, setDefaults(header, r.defaults)
}

// act does with a Verdict what an agent does: it delivers the messages and shows
// what is to be shown, to whoever is listening.
func (r *run) act(o *outcome) (err error) {
	if did, ok := o.result["delivered"].(map[string]any); ok { // by a client library
		for name, list := range map[string]*[]any{
			"messages": &o.messages, "transient": &o.transient, "request": &o.request, "display": &o.display,
		} {
			if *list, err = listIn(did, name); err != nil {
				return err
			}
		}
		return nil
	}
	messages, err := listIn(o.result, "messages")
	if err != nil {
		return err
	}
	o.messages, o.transient, o.request = r.context.deliver(messages)
	if r.c.Config.DisplaySystem == Present {
		o.display, err = listIn(o.result, "display")
	}
	return err
}

// listIn is a list of the Verdict, empty where it is left out.
func listIn(verdict map[string]any, key string) ([]any, error) {
	list, ok := orEmpty(verdict[key]).([]any)
	if !ok {
		return nil, fmt.Errorf("read verdict: %s: want a list, got %s", key, show(verdict[key]))
	}
	return list, nil
}
