package router

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// contributionEvent is the name under which contributors are called.
const contributionEvent = "contribution:collect"

// collect asks every hook of an event at the same time and answers with the data
// they gave.
func (r *Router) collect(ctx context.Context, req *natsx.Request) (err error) {
	a, err := r.admit("collect", req, r.CollectTimeout)
	if err != nil {
		return err
	}
	defer func() { r.tell("collect", a, err) }()
	defer r.release(a)
	r.publishEvent(a)
	var got gathered
	call := timed{caller{r, a, ctx, nil}, make([]telemetry.Interval, len(a.links))}
	list := chain.Collect(ctx, a.links, a.Event, a.timeout, call.hook)
	a.answers = call.answers(list)
	for _, c := range list {
		got.add(c.Entry.ID, c.Data, c.Err)
	}
	r.collected(a, list)
	err = got.reply(req)
	a.answered, a.action = time.Now(), "collect"
	return err
}

// timed is a caller that keeps from when to when each hook was called.
type timed struct {
	caller
	when []telemetry.Interval // by the place of the link among the arrival's
}

func (t timed) hook(ctx context.Context, link *chain.Entry, ev events.Event) (chain.Result, error) {
	when := &t.when[slices.Index(t.a.links, link)]
	when.From = time.Now()
	result, err := t.caller.hook(ctx, link, ev)
	when.To = time.Now()
	return result, err
}

// answers are the calls that were made.
func (t timed) answers(list []chain.Collected) []telemetry.Answer {
	answers := make([]telemetry.Answer, 0, len(list))
	for _, c := range list {
		when := t.when[slices.Index(t.a.links, c.Entry)]
		if when != (telemetry.Interval{}) {
			answers = append(answers, telemetry.Answer{Link: c.Entry, When: when, Failure: chain.FailureOf(c.Err)})
		}
	}
	return answers
}

// contributions asks every contributor of a channel at the same time.
func (r *Router) contributions(ctx context.Context, req *natsx.Request) (err error) {
	channel := r.bus.Tail("contributions", req.Subject)
	if err := events.CheckChannel(channel); err != nil {
		return wire.Errorf(wire.Malformed, "%v", err)
	}
	header := wire.ReadRequestHeader(req.Header)
	timeout, err := wire.Timeout(header.Timeout, r.CollectTimeout, r.ChainTimeout)
	if err != nil {
		return err
	}
	table, err := r.registry.Table()
	if err != nil {
		return err
	}
	body := []byte(`{"channel":"` + channel + `"}`)
	a := &arrival{
		Event:   events.Event{ID: events.NewID(), Source: events.DefaultSource, Name: contributionEvent, Time: events.Now(), Data: body},
		chainID: events.NewID(), links: table.Channel(channel), asked: header, came: time.Now(),
	}
	r.follow(a, req, events.Object{})
	a.header = a.attributes(header)
	defer func() { r.tellGathered(a, channel, err) }()
	got := r.gather(ctx, a, timeout)
	err = got.reply(req)
	a.answered, a.action = time.Now(), "collect"
	return err
}

func (r *Router) gather(ctx context.Context, a *arrival, timeout time.Duration) *gathered {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	values := make([][]byte, len(a.links))
	a.answers = make([]telemetry.Answer, len(a.links))
	errs := make([]error, len(a.links))
	call := caller{r, a, ctx, nil}
	chain.Scatter(len(a.links), func(i int) {
		from := time.Now()
		values[i], errs[i] = call.request(ctx, chain.Enforce, a.links[i], a.Data)
		if value := jsontext.Value(values[i]); errs[i] == nil && len(value) > 0 && !value.IsValid() {
			errs[i] = chain.ErrInvalidResult
		}
		a.answers[i] = telemetry.Answer{Link: a.links[i], When: telemetry.Interval{From: from, To: time.Now()}, Failure: chain.FailureOf(errs[i])}
	})
	got := &gathered{}
	for i, link := range a.links {
		if value := jsontext.Value(values[i]); errs[i] == nil && (len(value) == 0 || value.Kind() == 'n') {
			continue // gives nothing
		}
		got.add(link.ID, values[i], errs[i])
	}
	return got
}

// gathered is the array of a scatter-gather and who is behind it.
type gathered struct {
	values        [][]byte
	from, missing []string
}

// add takes what one gave: nothing for nil, and a place in missing for an error.
func (g *gathered) add(id string, value []byte, err error) {
	switch {
	case err != nil:
		g.missing = append(g.missing, id)
	case value != nil:
		g.values = append(g.values, value)
		g.from = append(g.from, id)
	}
}

func (g *gathered) reply(req *natsx.Request) error {
	body := []byte{'['}
	for i, v := range g.values {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, v...)
	}
	h := wire.Header{}
	if len(g.from) > 0 {
		h[wire.HeaderFrom] = []string{strings.Join(g.from, ",")}
	}
	if len(g.missing) > 0 {
		h[wire.HeaderMissing] = []string{strings.Join(g.missing, ",")}
	}
	return req.Reply(h, append(body, ']'))
}
