package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/clientconn"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxWait bounds the wait for a reply if ctx has no deadline. It exceeds the longest time that a
// router may take.
const maxWait = 35 * time.Second

// Answer is the result of an event's hooks, with details of the run.
type Answer struct {
	chain.Result
	Run
}

// Run describes the run of an event's hooks.
type Run struct {
	EventID    string   // the event's id
	ChainID    string   // names this run of the chain
	Hooks      int      // how many hooks were called
	DeniedBy   string   // id of the hook that denied; empty if none did
	FailedOpen []string // hooks that failed and were skipped
}

func readRun(h wire.Header) Run {
	count, _ := strconv.Atoi(wire.Get(h, wire.HeaderCount))
	return Run{
		Hooks:      count,
		EventID:    events.Unescape(wire.Get(h, wire.HeaderEventID)),
		ChainID:    wire.Get(h, wire.HeaderChainID),
		DeniedBy:   wire.Get(h, wire.HeaderDeniedBy),
		FailedOpen: list(wire.Get(h, wire.HeaderFailedOpen)),
	}
}

// Decode decodes the data to continue with into v.
func (a Answer) Decode(v any) error {
	return events.Event{Name: "answer", Data: a.Data}.Decode(v)
}

// Emit runs the hooks of an event over data and returns their result. data is a json.RawMessage,
// which is sent unchanged, or a value that marshals to a JSON object. ctx's deadline applies to the
// router and the hooks too. An error means that nothing was decided.
func (a *Agent) Emit(ctx context.Context, event string, data any) (Answer, error) {
	reply, err := a.invoke(ctx, Call{Verb: VerbEmit, Name: event, Data: data})
	return deref(reply.Answer, err)
}

func (a *Agent) emit(ctx context.Context, event string, data any) (answer Answer, err error) {
	header, body, err := a.event(ctx, event, data)
	if err != nil {
		return Answer{}, err
	}
	ctx, span := a.begin(ctx, VerbEmit, event, header)
	defer func() { end(span, string(answer.Action), answer.Run, err) }()
	callers := ctx // with the caller's deadline, if any
	ctx, cancel := bound(ctx)
	defer cancel()
	msg, err := a.conn.Request(ctx, clientconn.Request{
		Subject: a.conn.Transport.Event("emit", event), Header: header, Body: body,
		Before: func() { setTimeout(callers, header) }, Accept: about(header),
	})
	if err != nil {
		return Answer{}, fmt.Errorf("emit %s: %w", event, err)
	}
	result, err := chain.ParseResult(msg.Data)
	if err != nil {
		return Answer{}, fmt.Errorf("emit %s: read the answer: %w", event, err)
	}
	return Answer{result, readRun(msg.Header)}, nil
}

// about returns a filter for replies that name the event. Error replies name none.
func about(header wire.Header) func(wire.Header) bool {
	sent := wire.Get(header, "ce-id")
	return func(reply wire.Header) bool {
		id := wire.Get(reply, wire.HeaderEventID)
		return id == sent || id == "" && wire.ReadError(reply) != nil
	}
}

// bound adds a deadline of maxWait if ctx has none.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, maxWait)
}

// setTimeout writes the time left until ctx's deadline into header, reduced slightly so that the
// router's reply arrives in time.
func setTimeout(ctx context.Context, header wire.Header) {
	end, ok := ctx.Deadline()
	if !ok {
		return
	}
	left := time.Until(end)
	left -= min(left/10, 100*time.Millisecond)
	header[wire.HeaderTimeout] = []string{strconv.FormatInt(max(left.Milliseconds(), 1), 10)}
}

// Collection holds the values that hooks or contributors returned, in order.
type Collection struct {
	Values  []json.RawMessage
	From    []string // ids, parallel to Values
	Missing []string // ids that failed or did not answer in time
}

// EmitAndCollect calls all hooks of an event concurrently and returns their data in execution
// order. timeout bounds each call; 0 means the router's default of one second.
func (a *Agent) EmitAndCollect(ctx context.Context, event string, data any, timeout time.Duration) (Collection, error) {
	reply, err := a.invoke(ctx, Call{Verb: VerbCollect, Name: event, Data: data, Timeout: timeout})
	return deref(reply.Collection, err)
}

// CollectContributions calls all contributors of a channel concurrently and returns their values in
// registration order. timeout is as for [Agent.EmitAndCollect].
func (a *Agent) CollectContributions(ctx context.Context, channel string, timeout time.Duration) (Collection, error) {
	reply, err := a.invoke(ctx, Call{Verb: VerbContributions, Name: channel, Timeout: timeout})
	return deref(reply.Collection, err)
}

func (a *Agent) emitAndCollect(ctx context.Context, c Call) (Collection, error) {
	header, body, err := a.event(ctx, c.Name, c.Data)
	if err != nil {
		return Collection{}, err
	}
	delete(header, wire.HeaderDefaults)
	return a.collect(ctx, c, clientconn.Request{Subject: a.conn.Transport.Event("collect", c.Name), Header: header, Body: body})
}

func (a *Agent) contributions(ctx context.Context, c Call) (Collection, error) {
	if err := events.CheckChannel(c.Name); err != nil {
		return Collection{}, err
	}
	return a.collect(ctx, c, clientconn.Request{Subject: a.conn.Transport.Of("contributions", c.Name), Header: wire.Header{}})
}

func (a *Agent) collect(ctx context.Context, c Call, r clientconn.Request) (got Collection, err error) {
	ctx, span := a.begin(ctx, c.Verb, c.Name, r.Header)
	defer func() { end(span, "collect", Run{}, err) }()
	if c.Timeout > 0 {
		r.Header[wire.HeaderTimeout] = []string{strconv.FormatInt(max(c.Timeout.Milliseconds(), 1), 10)}
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	msg, err := a.conn.RequestJSON(ctx, r, nil, &got.Values)
	if err != nil {
		return Collection{}, fmt.Errorf("collect: %w", err)
	}
	got.From, got.Missing = list(wire.Get(msg.Header, wire.HeaderFrom)), list(wire.Get(msg.Header, wire.HeaderMissing))
	return got, nil
}

func list(header string) []string {
	if header == "" {
		return nil
	}
	return strings.Split(header, ",")
}
