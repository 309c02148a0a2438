package main

import (
	"context"
	"fmt"
	"time"
)

// armOrder returns the order of n arms in a round: a rotation that changes with each round, and
// then its reverse, so that drift affects all arms equally.
func armOrder(n, round int) []int {
	order := make([]int, 2*n)
	for i := range n {
		arm := (i + round) % n
		order[i], order[2*n-1-i] = arm, arm
	}
	return order
}

// passes is the number of passes through the order in a round. With several short slices, all arms
// are equally affected by other load on the machine.
const passes = 3

// compare runs the arms in rounds and returns their samples, by arm and round.
func (b *bench) compare(ctx context.Context, inFlight int, arms ...arm) ([][]*sample, error) {
	return b.compareSlices(ctx, b.slice, passes, inFlight, arms...)
}

// compareSlices is like compare, with another length of slices and number of passes.
func (b *bench) compareSlices(ctx context.Context, slice time.Duration, passes, inFlight int, arms ...arm) ([][]*sample, error) {
	n, err := b.warmUp(ctx, slice, inFlight, arms)
	if err != nil {
		return nil, err
	}
	all := make([][]*sample, len(arms))
	for round := range b.rounds {
		parts := make([][]*sample, len(arms))
		for pass := range passes {
			for _, i := range armOrder(len(arms), round+pass) {
				s, err := b.load(ctx, arms[i], inFlight, n)
				if err != nil {
					return nil, err
				}
				parts[i] = append(parts[i], s)
			}
		}
		for i := range arms {
			all[i] = append(all[i], merge(parts[i]...))
		}
	}
	return all, nil
}

// warmUp runs each arm for a slice, and returns the number of chains that the last one completes in
// a slice. That number is sent to each arm from then on.
func (b *bench) warmUp(ctx context.Context, slice time.Duration, inFlight int, arms []arm) (n int, err error) {
	for _, a := range arms {
		began := time.Now()
		done := 0
		for time.Since(began) < slice {
			if _, err := b.load(ctx, a, inFlight, 4*inFlight); err != nil {
				return 0, err
			}
			done += 4 * inFlight
		}
		n = max(int(float64(done)*slice.Seconds()/time.Since(began).Seconds()), 8*inFlight)
	}
	return n, nil
}

func p50s(rounds []*sample) []float64 {
	list := make([]float64, len(rounds))
	for i, s := range rounds {
		list[i] = float64(s.p50())
	}
	return list
}

func rates(rounds []*sample) []float64 {
	list := make([]float64, len(rounds))
	for i, s := range rounds {
		list[i] = s.rate()
	}
	return list
}

// floor compares the router with the relay, and the relay with itself.
func (b *bench) floor(ctx context.Context) error {
	for _, c := range []struct {
		event string
		hops  int
	}{{eventOne, 1}, {eventThree, 3}, {eventTen, 10}} {
		arms := []arm{
			newArm("floor A", prefixFloor, c.event, c.hops),
			newArm("router", prefixRouter, c.event, c.hops),
			newArm("floor B", prefixFloor, c.event, c.hops),
		}
		if err := b.sameWork(arms...); err != nil {
			return err
		}
		for _, inFlight := range []int{1, 64} {
			all, err := b.compare(ctx, inFlight, arms...)
			if err != nil {
				return fmt.Errorf("%d hops, %d in flight: %w", c.hops, inFlight, err)
			}
			b.report.addRow(c.hops, inFlight, all[1], all[0], all[2])
			fmt.Fprintf(b.progress, "bench: %s\n", &b.report.Rows[len(b.report.Rows)-1])
		}
	}
	b.report.judgeFloor()
	return b.relayed(ctx)
}

// relayed compares the router with a relay that also publishes, and that relay with itself.
func (b *bench) relayed(ctx context.Context) error {
	arms := []arm{
		newArm("relay A", prefixRelay, eventThree, 3),
		newArm("router", prefixRouter, eventThree, 3),
		newArm("relay B", prefixRelay, eventThree, 3),
	}
	if err := b.sameWork(arms...); err != nil {
		return err
	}
	if err := b.samePublished(arms[0], arms[1]); err != nil {
		return err
	}
	for _, f := range []struct {
		inFlight int
		of       func([]*sample) []float64
		figure
	}{
		{1, p50s, figure{Name: "p50 of 3 hooks over a relay that publishes too, one in flight", Most: 1.10}},
		{64, rates, figure{Name: "chains/s over a relay that publishes too, 3 hooks, 64 in flight", Least: 0.85}},
	} {
		all, err := b.compare(ctx, f.inFlight, arms...)
		if err != nil {
			return fmt.Errorf("relay that publishes, %d in flight: %w", f.inFlight, err)
		}
		relay := make([]*sample, len(all[0]))
		for i := range relay {
			relay[i] = merge(all[0][i], all[2][i])
		}
		f.Unit, f.Value = "x", medianRatio(f.of(all[1]), f.of(relay))
		b.report.addBeside(f.figure, medianRatio(f.of(all[0]), f.of(all[2])))
		fmt.Fprintf(b.progress, "bench: %s: %.3f\n", f.Name, f.Value)
	}
	return nil
}
