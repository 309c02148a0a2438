package main

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/wire"
)

// strict compares the two routers of a pair. why is the reason why the figures are not judged;
// empty if they are.
func (b *bench) strict(ctx context.Context, p *pair, why string) error {
	for mode, a := range map[string]arm{"strict": p.strict, "off": p.off} {
		reply, err := newSender(b.connOf(a), a, 0).ask()
		if err != nil {
			return err
		}
		if got := reply.Header.Get(wire.HeaderAudit); got != mode {
			return fmt.Errorf("%s answers with audit %q: %s was expected", a.name, got, mode)
		}
	}
	defer p.synced.seat.close()
	single, err := p.synced.ordered(1)
	if err != nil {
		return err
	}
	one, err := b.compare(ctx, 1, p.off, p.strict, p.synced, p.off, p.inside)
	if err != nil {
		return err
	}
	added := p.added(one, single.Bytes, why)
	b.report.addBeside(added, medianRatio(p50s(one[0]), p50s(one[3])))

	sent := b.sent[p.strict.name]
	messages, err := p.messages(ctx)
	if err != nil {
		return err
	}
	many, err := b.compare(ctx, 64, p.off, p.strict, p.off)
	if err != nil {
		return err
	}
	written, err := p.messages(ctx)
	if err != nil {
		return err
	}
	if why == "" && b.report.Disk.slow() {
		why = "slow disk"
	}
	grouped := float64(b.sent[p.strict.name]-sent) / float64(written-messages)
	rate := p.rate(many, grouped, median(p50s(one[2])), why)
	b.report.addBeside(rate, medianRatio(rates(many[0]), rates(many[2])))
	return nil
}

// added returns the time that strict audit adds to a chain, relative to one synced publish.
func (p *pair) added(all [][]*sample, bytes int, why string) figure {
	off, strict, synced, inside := p50s(merged(all[0], all[3])), p50s(all[1]), p50s(all[2]), p50s(all[4])
	more, over := make([]float64, len(strict)), make([]float64, len(strict))
	for i := range strict {
		more[i] = (strict[i] - off[i]) / 1e3
		over[i] = more[i] * 1e3 / synced[i]
	}
	return figure{
		Name: fmt.Sprintf("strict audit, %s: what it adds to the p50 of 3 hops, over one synced publish", p.name),
		Unit: "x", Value: median(over), Most: 1, NotJudged: why,
		Note: fmt.Sprintf("%.0f us with it, %.0f us without: %.0f us more; one synced publish of the same %d bytes takes the agent %.0f us, the router's process %.0f us",
			median(strict)/1e3, median(off)/1e3, median(more), bytes, median(synced)/1e3, median(inside)/1e3),
	}
}

// rate returns the throughput with strict audit relative to that without. grouped is the number of
// chains per message, synced the time of a single write in ns.
func (p *pair) rate(all [][]*sample, grouped, synced float64, why string) figure {
	off, strict := rates(merged(all[0], all[2])), rates(all[1])
	value := medianRatio(strict, off)
	plain := median(off)
	return figure{
		Name: fmt.Sprintf("strict audit, %s: chains/s of 3 hops over those without, 64 in flight", p.name),
		Unit: "x", Value: value, Least: 0.60, NotJudged: why,
		Note: fmt.Sprintf("%.0f over %.0f; %.1f chains in a synced message; one message for each chain would allow at most %.2f (measured elsewhere: 0.12)",
			median(strict), plain, grouped, min(1e9/synced/plain, 1)),
	}
}

// messages returns the number of messages in the audit log of the strict router.
func (p *pair) messages(ctx context.Context) (uint64, error) {
	reader, err := natsx.New(p.strict.conn, prefixRouter, nil)
	if err != nil {
		return 0, err
	}
	log, err := reader.OpenStream(ctx, reader.AuditStream())
	if err != nil {
		return 0, err
	}
	state, err := log.State(ctx, store.Subjects(reader))
	return state.Messages, err
}

// merged returns the merged rounds of an arm that ran twice in each.
func merged(a, b []*sample) []*sample {
	both := make([]*sample, len(a))
	for i := range both {
		both[i] = merge(a[i], b[i])
	}
	return both
}
