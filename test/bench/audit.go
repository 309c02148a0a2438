package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

const partAudit = "audit"

// keyFile is the name of the file with the key of a router's audit log, in the router's directory.
const keyFile = "audit.key"

// pair is a router whose answers wait until their records are on disk, and one without an audit
// log.
type pair struct {
	strict, off arm
	synced      arm // single publishes to another log on the server of strict, by the agent
	inside      arm // the same, by the router's process
	name        string
	dir         string // directory of strict, with its key
}

// audit compares strict audit with no audit, and verification with plain SHA-256.
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

// startAudit starts the routers to compare: two with embedded servers, which is the default of
// hook-router, and two that join one server. All servers sync every write.
func (b *bench) startAudit(ctx context.Context) (own, joined *pair, err error) {
	if own, err = b.startOwn(ctx); err != nil {
		return nil, nil, err
	}
	if joined, err = b.startJoined(ctx); err != nil {
		return nil, nil, err
	}
	for _, p := range []*pair{own, joined} {
		p.synced = arm{name: "synced publish", seat: &appender{connection: natsx.Options{URL: p.strict.conn.ConnectedUrl(), Prefix: prefixRouter, Name: "append"}}}
		p.inside = arm{name: "synced publish in the router's process", writer: b.byName[p.strict.name]}
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

// set sets the arm of the router in the process with a name.
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
