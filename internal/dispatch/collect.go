package dispatch

import (
	"context"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// contributionEvent is the event name in calls of contributors.
const contributionEvent = "contribution:collect"

// Collect calls every hook of an event concurrently and answers with their data, in execution
// order.
func (d *Dispatcher) Collect(ctx context.Context, req Request) (*Answer, error) {
	ev, err := d.admit(ctx, verbCollect, req, d.opts.CollectTimeout)
	if err != nil {
		return nil, err
	}
	defer d.release(ev)
	d.announce(ev)
	list := chain.Collect(ctx, ev.hooks, ev.forHooks(), ev.timeout, d.caller(ev))
	answer := ev.gathered(list)
	d.note(d.collected(ev, list))
	answer.sent = func(err error) {
		ev.observed.End, ev.observed.Action = time.Now(), "collect"
		d.observe(ev, err)
	}
	return answer, nil
}

// Contributions calls every contributor of a channel concurrently and answers with what they
// returned.
func (d *Dispatcher) Contributions(ctx context.Context, channel string, req Request) (*Answer, error) {
	table, err := d.hooks.Table()
	if err != nil {
		return nil, err
	}
	if err := d.senderSlots.take(req.Emitter); err != nil {
		return nil, err
	}
	defer d.senderSlots.release(req.Emitter)
	req.Event = events.Event{
		ID: events.NewID(), Source: events.DefaultSource, Name: contributionEvent, Time: events.Now(), Data: []byte(`{"channel":"` + channel + `"}`),
	}
	ev := d.newEvent(verbContributions, req, table.Channel(channel))
	ev.observed.Channel = channel
	timeout := d.opts.CollectTimeout
	if req.Timeout > 0 {
		timeout = min(req.Timeout, d.opts.ChainTimeout)
	}
	answer := ev.gathered(d.contribute(ctx, ev, timeout))
	answer.EventID, answer.ChainID = "", ""
	answer.sent = func(err error) {
		ev.observed.End, ev.observed.Action = time.Now(), "collect"
		d.observer.Gathered(ev.trace, ev.outcome(err))
	}
	return answer, nil
}

// contribute calls the contributors. A reply may be any JSON; an empty one or null contributes
// nothing.
func (d *Dispatcher) contribute(ctx context.Context, ev *event, timeout time.Duration) []chain.Collected {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	list := make([]chain.Collected, len(ev.hooks))
	chain.Scatter(len(list), func(i int) {
		c := &list[i]
		c.Entry, c.Start = ev.hooks[i], time.Now()
		reply, err := d.call(ctx, ev, c.Entry, ev.forHooks())
		c.Took = time.Since(c.Start)
		switch value := jsontext.Value(chain.WellFormed(reply.Body)); {
		case err != nil:
			c.Err = err
		case len(value) > 0 && !value.IsValid():
			c.Err = chain.ErrInvalidResult
		case len(value) > 0 && value.Kind() != 'n':
			c.Data = json.RawMessage(value)
		}
	})
	return list
}

// gathered joins what hooks returned into one array, and notes the calls for the observer.
func (ev *event) gathered(list []chain.Collected) *Answer {
	a := &Answer{EventID: ev.id(), ChainID: ev.chainID, Body: []byte{'['}}
	for _, c := range list {
		if !c.Start.IsZero() {
			when := telemetry.Interval{From: c.Start, To: c.Start.Add(c.Took)}
			ev.observed.Answers = append(ev.observed.Answers, telemetry.Answer{Entry: c.Entry, When: when, Failure: chain.FailureOf(c.Err)})
		}
		switch {
		case c.Err != nil:
			a.Missing = append(a.Missing, c.Entry.ID)
		case c.Data != nil:
			if len(a.From) > 0 {
				a.Body = append(a.Body, ',')
			}
			a.Body, a.From = append(a.Body, c.Data...), append(a.From, c.Entry.ID)
		}
	}
	a.Body = append(a.Body, ']')
	return a
}
