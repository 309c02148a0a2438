package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/internal/trail"
)

const partAudit = "audit"

// keyFile is the key of a router's audit log, in its directory.
const keyFile = "audit.key"

// pair is a router whose answers wait until their records are on the disk, and one
// that keeps no records.
type pair struct {
	strict, off, synced arm // synced: single publishes to a log beside that of strict
	name                string
	dir                 string // of strict: its key is there
}

// audit compares strict audit with none, and verification with plain SHA-256.
func (b *bench) audit(ctx context.Context) error {
	own, joined, err := b.startAudit(ctx)
	if err != nil {
		return err
	}
	if err := b.strict(ctx, own, ""); err != nil {
		return fmt.Errorf("%s: %w", own.name, err)
	}
	if err := b.strict(ctx, joined, "for comparison"); err != nil {
		return fmt.Errorf("%s: %w", joined.name, err)
	}
	return b.verify(ctx, own)
}

// startAudit starts the routers that are compared: two with servers of their own, which
// is how hook-router runs by default, and two that join one server. All servers
// sync every write.
func (b *bench) startAudit(ctx context.Context) (own, joined *pair, err error) {
	if own, err = b.startOwn(ctx); err != nil {
		return nil, nil, err
	}
	if joined, err = b.startJoined(ctx); err != nil {
		return nil, nil, err
	}
	for _, p := range []*pair{own, joined} {
		p.synced = arm{name: "synced publish", writer: b.byName[p.strict.name]}
	}
	return own, joined, nil
}

func (b *bench) startOwn(ctx context.Context) (*pair, error) {
	p := &pair{name: "embedded NATS", dir: filepath.Join(b.dir, "own-strict")}
	for _, mode := range []string{"strict", "off"} {
		name := "own-" + mode
		url, err := b.spawn(ctx, name, "router", "-prefix", prefixRouter, "-audit", mode, "-store", filepath.Join(b.dir, name))
		if err != nil {
			return nil, err
		}
		conn, err := b.furnish(ctx, name, url, prefixRouter)
		if err != nil {
			return nil, err
		}
		p.set(mode, name, conn, prefixRouter)
	}
	return p, nil
}

func (b *bench) startJoined(ctx context.Context) (*pair, error) {
	p := &pair{name: "joined NATS", dir: filepath.Join(b.dir, "joined-strict")}
	url, err := b.spawn(ctx, "joined", "nats", "-sync", "-store", filepath.Join(b.dir, "joined"))
	if err != nil {
		return nil, err
	}
	prefixes := map[string]string{"strict": prefixRouter, "off": prefixCrowd}
	for mode, prefix := range prefixes {
		name := "joined-" + mode
		if _, err := b.spawn(ctx, name, "router", "-nats", url, "-prefix", prefix, "-audit", mode, "-store", filepath.Join(b.dir, name)); err != nil {
			return nil, err
		}
	}
	conn, err := b.furnish(ctx, "joined", url, prefixRouter, prefixCrowd)
	if err != nil {
		return nil, err
	}
	for mode, prefix := range prefixes {
		p.set(mode, "joined-"+mode, conn, prefix)
	}
	return p, nil
}

// set makes the arm of a router, which is a process of that name.
func (p *pair) set(mode, name string, conn *nats.Conn, prefix string) {
	a := newArm(name, prefix, eventThree, 3)
	a.conn = conn
	if mode == "off" {
		p.off = a
	} else {
		p.strict = a
	}
}

// furnish starts hooks on a server, registers them, and connects the agent.
func (b *bench) furnish(ctx context.Context, name, url string, prefixes ...string) (*nats.Conn, error) {
	if _, err := b.spawn(ctx, name+"-hooks", "hooks", "-nats", url); err != nil {
		return nil, err
	}
	conn, err := connect(url)
	if err != nil {
		return nil, err
	}
	b.conns = append(b.conns, conn)
	for _, prefix := range prefixes {
		if err := b.registerHops(ctx, conn, prefix, 3); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

// strict compares the two of a pair; why says why that is not judged, "" where it is.
func (b *bench) strict(ctx context.Context, p *pair, why string) error {
	if _, err := b.load(ctx, p.strict, 1, 1); err != nil { // what a chain writes
		return err
	}
	single, err := p.synced.ordered(1)
	if err != nil {
		return err
	}
	one, err := b.compare(ctx, 1, p.off, p.strict, p.synced, p.off)
	if err != nil {
		return err
	}
	added := p.added(one, single.Bytes, why)
	added.Note += b.itself(medianRatio(p50s(one[0]), p50s(one[3])))
	b.report.add(added)

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
	rate.Note += b.itself(medianRatio(rates(many[0]), rates(many[2])))
	b.report.add(rate)
	return nil
}

// added is what strict audit adds to the time of a chain, over what one synced append
// takes.
func (p *pair) added(all [][]*sample, bytes int, why string) figure {
	off, strict, synced := p50s(merged(all[0], all[3])), p50s(all[1]), p50s(all[2])
	more, over := make([]float64, len(strict)), make([]float64, len(strict))
	for i := range strict {
		more[i] = (strict[i] - off[i]) / 1e3
		over[i] = more[i] * 1e3 / synced[i]
	}
	return figure{
		Name: fmt.Sprintf("strict audit, %s: what it adds to the p50 of 3 hops, over one synced publish", p.name),
		Unit: "x", Value: median(over), Most: 1, NotJudged: why,
		Note: fmt.Sprintf("%.0f us with it, %.0f us without: %.0f us more; one synced publish of the same %d bytes: %.0f us",
			median(strict)/1e3, median(off)/1e3, median(more), bytes, median(synced)/1e3),
	}
}

// rate is the throughput with strict audit over that without. grouped is how many
// chains were written together, synced how many ns one write takes alone.
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

// itself judges the run by an arm that ran twice in each round.
func (b *bench) itself(ratio float64) string {
	if ratio < 0.95 || ratio > 1.05 {
		b.report.Valid = false
	}
	return fmt.Sprintf("; off over itself %.3f", ratio)
}

// messages is how many the audit log of the strict router has.
func (p *pair) messages(ctx context.Context) (uint64, error) {
	reader, err := bus.New(p.strict.conn, prefixRouter, nil)
	if err != nil {
		return 0, err
	}
	log, err := reader.OpenStream(ctx, reader.AuditStream())
	if err != nil {
		return 0, err
	}
	state, err := log.State(ctx, trail.Subjects(reader))
	return state.Messages, err
}

// merged are the rounds of an arm that ran twice in each.
func merged(a, b []*sample) []*sample {
	both := make([]*sample, len(a))
	for i := range both {
		both[i] = merge(a[i], b[i])
	}
	return both
}
