package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// further compares two routers on one server, before and after 10,000 further hooks on other events
// are registered with one of them.
func (b *bench) further(ctx context.Context) error {
	arms := []arm{
		newArm("router", prefixRouter, eventThree, 3),
		newArm("router with further hooks", prefixCrowd, eventThree, 3),
	}
	before, err := b.compare(ctx, 1, arms...)
	if err != nil {
		return err
	}
	began := time.Now()
	err = b.registerMany(ctx, prefixCrowd, furtherHooks, func(i int) chain.Registration {
		return chain.Registration{ID: fmt.Sprintf("further-%05d", i), Events: []string{fmt.Sprintf("other-%03d:event-%d", i%500, i)}}
	})
	if err != nil {
		return err
	}
	registered := time.Since(began)
	after, err := b.compare(ctx, 1, arms...)
	if err != nil {
		return err
	}
	b.report.add(figure{
		Name: fmt.Sprintf("%d further hooks on other events, p50 of 3 hops over none", furtherHooks), Unit: "x",
		Value: medianRatio(p50s(after[1]), p50s(after[0])), Most: 1.05,
		Note: fmt.Sprintf("the same two routers before they were registered: %.3f; registered in %.1f s, 100 at a time",
			medianRatio(p50s(before[1]), p50s(before[0])), registered.Seconds()),
	})
	return nil
}

// skipped measures the cost of a hook on the same event whose match is false.
func (b *bench) skipped(ctx context.Context) error {
	err := b.registerMany(ctx, prefixRouter, skippedHooks, func(i int) chain.Registration {
		return chain.Registration{
			ID: fmt.Sprintf("skipped-%04d", i), Events: []string{eventSkip}, Priority: -1,
			Match: fmt.Sprintf("data.tool_name == 'Nope%04d' && data.tool_input.command.startsWith('x')", i),
		}
	})
	if err != nil {
		return err
	}
	all, err := b.compare(ctx, 1, newArm("3 hops", prefixRouter, eventThree, 3), newArm("3 hops behind skipped hooks", prefixRouter, eventSkip, 3))
	if err != nil {
		return err
	}
	without, with := p50s(all[0]), p50s(all[1])
	each := make([]float64, len(with))
	for i := range each {
		each[i] = (with[i] - without[i]) / 1e3 / skippedHooks
	}
	b.report.add(figure{
		Name: fmt.Sprintf("a hook skipped by match (of %d), decoding included", skippedHooks), Unit: "us", Value: median(each), Most: 5,
		Note: fmt.Sprintf("p50 of 3 hops: %.0f us with them, %.0f us without", median(with)/1e3, median(without)/1e3),
	})
	return nil
}

// execute compares execute, without approval and injection, with emit on one router.
func (b *bench) execute(ctx context.Context) error {
	arms := []arm{
		newArm("emit", prefixRouter, eventThree, 3),
		{name: "execute", subject: subjects(prefixRouter).Event("execute", eventThree), event: eventThree, hops: 3},
	}
	got, err := b.compare(ctx, 1, arms...)
	if err != nil {
		return err
	}
	b.report.add(figure{
		Name: "execute without approval and injection, p50 over emit", Unit: "x",
		Value: medianRatio(p50s(got[1]), p50s(got[0])), Most: 1.10, Note: "3 hops, one in flight, one router",
	})
	return nil
}

// collect measures a collect of 20 hooks, one of which does not answer.
func (b *bench) collect(ctx context.Context) error {
	const timeout = 500 * time.Millisecond
	for i := range collectHooks {
		err := b.register(ctx, b.conn, prefixRouter, chain.Registration{ID: collectID(i), Events: []string{eventCollect}})
		if err != nil {
			return err
		}
	}
	var over []float64
	for range min(b.rounds, 10) {
		began := time.Now()
		reply, err := b.conn.RequestMsg(&nats.Msg{
			Subject: subjects(prefixRouter).Event("collect", eventCollect), Data: eventData("session-00"),
			Header: nats.Header{wire.HeaderTimeout: {strconv.FormatInt(timeout.Milliseconds(), 10)}},
		}, 30*time.Second)
		if err != nil {
			return err
		}
		over = append(over, float64(time.Since(began))/float64(timeout))
		var values []json.RawMessage
		if err := json.Unmarshal(reply.Data, &values); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		missing := reply.Header.Get(wire.HeaderMissing)
		if len(values) != collectHooks-1 || missing != collectID(silentHook) {
			return fmt.Errorf("%d values, missing %q: %d and %q were expected", len(values), missing, collectHooks-1, collectID(silentHook))
		}
		b.report.Collects++
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	b.report.add(figure{
		Name: fmt.Sprintf("collect over %d workers, one silent, over one time-out", collectHooks), Unit: "x", Value: median(over), Most: 1.25,
		Note: fmt.Sprintf("time-out %v, %d times", timeout, len(over)),
	})
	return nil
}
