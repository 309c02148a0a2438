package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

const partTracing = "tracing"

// The prefixes of the compared routers: without tracing, with all traces sampled, and with a tenth
// of them sampled in addition to traces that are always kept.
const (
	prefixUntraced = "plain"
	prefixTraced   = "every"
	prefixTenth    = "tenth"
)

const (
	gateHook     = 2  // the index of the hook that denies marked events
	denyOneOf    = 50 // one event of this number must be denied
	deniedMark   = "to-be-denied-"
	spansOfChain = 4 // with three hops
)

// longSlice is the factor by which slices are longer than in the other parts. The time of a slice
// includes sending its spans, which must not dominate it.
const longSlice = 6

// traced is the compared routers and their collector.
type traced struct {
	off, every, tenth arm
	collector         *process
}

// tracing compares routers that send spans to a collector with one without tracing.
func (b *bench) tracing(ctx context.Context) error {
	t, err := b.startTracing(ctx)
	if err != nil {
		return err
	}
	arms := []arm{t.off, t.every, t.tenth, t.off}
	one, err := b.compareSlices(ctx, longSlice*b.slice, 1, 1, arms...)
	if err != nil {
		return err
	}
	many, err := b.compareSlices(ctx, longSlice*b.slice, 1, 64, arms...)
	if err != nil {
		return err
	}
	before, err := b.settled(ctx, t, t.every)
	if err != nil {
		return err
	}
	long, err := b.sustained(ctx, t.every, many[1])
	if err != nil {
		return err
	}
	every, err := b.settled(ctx, t, t.every)
	if err != nil {
		return err
	}
	tenth, err := b.settled(ctx, t, t.tenth)
	if err != nil {
		return err
	}
	if want := spansOfChain * b.sent[t.every.name]; every.made != want {
		return fmt.Errorf("%s made %d spans of %d chains: %d were expected", t.every.name, every.made, b.sent[t.every.name], want)
	}
	if want := b.denied[t.tenth.name]; tenth.Denied != want && tenth.made == tenth.Spans {
		return fmt.Errorf("%s: the collector has the whole trace of %d denied events, of %d", t.tenth.name, tenth.Denied, want)
	}
	off := merged(many[0], many[3])
	itself := medianRatio(rates(many[0]), rates(many[3]))
	b.report.addBeside(tracedTime(one), medianRatio(p50s(one[0]), p50s(one[3])))
	b.report.addBeside(tracedRate("all sampled", many[1], off, 0.55, every), itself)
	b.report.add(droppedSpans(every.since(before), long))
	b.report.addBeside(tracedRate("10 % sampled", many[2], off, 0.85, tenth), itself)
	b.report.add(deniedTraces(tenth, b.denied[t.tenth.name], b.sent[t.tenth.name]))
	return nil
}

func (b *bench) startTracing(ctx context.Context) (*traced, error) {
	url := b.conn.ConnectedUrl()
	endpoint, err := b.spawn(ctx, "collector", "collector")
	if err != nil {
		return nil, err
	}
	if _, err := b.spawn(ctx, "gates", "gates", "-nats", url); err != nil {
		return nil, err
	}
	for prefix, more := range map[string][]string{
		prefixUntraced: nil,
		prefixTraced:   {"-otlp", endpoint + "/" + prefixTraced, "-sampled", "1"},
		prefixTenth:    {"-otlp", endpoint + "/" + prefixTenth, "-sampled", "0.1"},
	} {
		if _, err := b.spawn(ctx, prefix, "router", append(more, "-nats", url, "-prefix", prefix, "-audit", "off")...); err != nil {
			return nil, err
		}
		for i := range 3 {
			if err := b.register(ctx, b.conn, prefix, chain.Registration{ID: hopID(i), Events: []string{eventThree}}); err != nil {
				return nil, err
			}
		}
	}
	make := func(prefix string, settle bool) arm {
		a := newArm(prefix, prefix, eventThree, 3)
		a.turns, a.denyOneOf = true, denyOneOf
		if settle {
			a.settle = func() error { _, err := b.byName[prefix].order("flush"); return err }
		}
		return a
	}
	return &traced{make(prefixUntraced, false), make(prefixTraced, true), make(prefixTenth, true), b.byName["collector"]}, nil
}

// sustained runs an arm for ten seconds without pauses in which spans could be sent. A router that
// sends spans more slowly than it makes them fills its queue and drops spans.
func (b *bench) sustained(ctx context.Context, a arm, before []*sample) (*sample, error) {
	long := 10 * time.Second
	if b.short {
		long = 2 * time.Second
	}
	a.settle = nil
	return b.load(ctx, a, 64, int(median(rates(before))*long.Seconds()))
}

// delivery is the number of spans that a router made, and the collector's count.
type delivery struct {
	made int
	counted
}

// since returns the spans since an earlier count.
func (d delivery) since(before delivery) delivery {
	d.made -= before.made
	d.Spans -= before.Spans
	return d
}

// dropped returns the share of spans that did not arrive.
func (d delivery) dropped() float64 { return float64(d.made-d.Spans) / float64(max(d.made, 1)) }

// settled returns the count when all spans have arrived, or when no more arrive for a second.
func (b *bench) settled(ctx context.Context, t *traced, a arm) (d delivery, err error) {
	for still := 0; still < 10; {
		made, err := b.byName[a.name].order("flush")
		if err != nil {
			return d, err
		}
		text, err := t.collector.order("count " + a.name)
		if err != nil {
			return d, err
		}
		last := d
		if d.made, err = strconv.Atoi(made); err != nil {
			return d, fmt.Errorf("%s made %q: %w", a.name, made, err)
		}
		if err := json.Unmarshal([]byte(text), &d.counted); err != nil {
			return d, fmt.Errorf("count what came from %s: %w", a.name, err)
		}
		switch {
		case d != last:
			still = 0
		case d.made == d.Spans:
			return d, nil
		default:
			still++
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return d, ctx.Err()
		}
	}
	return d, nil
}
