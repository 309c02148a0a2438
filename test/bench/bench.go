package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// bench is one run of the bench. This process is the agent.
type bench struct {
	options
	dir      string
	progress io.Writer
	report   *report

	processes []*process // in start order
	byName    map[string]*process
	conn      *nats.Conn     // the agent's connection to the server of the floor
	conns     []*nats.Conn   // the agent's connections to other servers
	sent      map[string]int // chains, by arm
	denied    map[string]int // chains that had to be denied, by arm
}

// start starts the server, the hooks, two routers and the relay, and registers the chains' hooks.
func (b *bench) start(ctx context.Context) error {
	b.byName = map[string]*process{}
	url, err := b.spawn(ctx, "nats", "nats", "-store", filepath.Join(b.dir, "nats"))
	if err != nil {
		return err
	}
	for _, p := range [][]string{
		{"hooks", "hooks"},
		{prefixRouter, "router", "-prefix", prefixRouter, "-audit", "off"},
		{prefixCrowd, "router", "-prefix", prefixCrowd, "-audit", "off"},
		{"relay", "relay"},
	} {
		if _, err := b.spawn(ctx, p[0], p[1], append(p[2:], "-nats", url)...); err != nil {
			return err
		}
	}
	if b.conn, err = connect(url); err != nil {
		return err
	}
	for _, prefix := range []string{prefixRouter, prefixCrowd} {
		if err := b.registerHops(ctx, b.conn, prefix, 10); err != nil {
			return err
		}
	}
	return nil
}

// connect returns a new connection of the agent.
func connect(url string) (*nats.Conn, error) {
	agent, err := natsx.Connect(natsx.Options{URL: url, Name: "agent"})
	if err != nil {
		return nil, err
	}
	return agent.Conn(), nil
}

// registerHops registers the first n hooks of the chains.
func (b *bench) registerHops(ctx context.Context, conn *nats.Conn, prefix string, n int) error {
	for i := range n {
		if err := b.register(ctx, conn, prefix, chain.Registration{ID: hopID(i), Events: eventsOf(i)}); err != nil {
			return err
		}
	}
	return nil
}

// spawn starts a process and returns the text that it reported when it was ready. A router's log is
// written to the null device; the other processes log nothing.
func (b *bench) spawn(ctx context.Context, name, role string, args ...string) (string, error) {
	logs := os.Stderr
	if role == "router" {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return "", fmt.Errorf("open a place for the log: %w", err)
		}
		defer func() { _ = null.Close() }() // the child has its own copy
		logs = null
	}
	p, text, err := start(ctx, role, logs, args...)
	if err != nil {
		return "", err
	}
	b.processes = append(b.processes, p)
	b.byName[name] = p
	return text, nil
}

// stop ends all processes, the server last.
func (b *bench) stop() {
	if b.conn != nil {
		b.conn.Close()
	}
	for _, conn := range b.conns {
		conn.Close()
	}
	for _, p := range slices.Backward(b.processes) {
		p.stop()
	}
}

// register registers a hook through the protocol.
func (b *bench) register(ctx context.Context, conn *nats.Conn, prefix string, reg chain.Registration) error {
	body, err := jsonv2.Marshal(reg)
	if err != nil {
		return fmt.Errorf("register %s: %w", reg.ID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	reply, err := conn.RequestWithContext(ctx, subjects(prefix).Of("register", reg.ID), body)
	if err == nil {
		if text := reply.Header.Get("Nats-Service-Error"); text != "" {
			err = errors.New(text)
		}
	}
	if err != nil {
		return fmt.Errorf("register %s: %w", reg.ID, err)
	}
	b.report.Registrations.Add(1)
	return nil
}

// registerMany registers n hooks, 100 at a time.
func (b *bench) registerMany(ctx context.Context, prefix string, n int, make func(i int) chain.Registration) error {
	const atOnce = 100
	errs := [atOnce]error{}
	var wg sync.WaitGroup
	for first := range atOnce {
		wg.Go(func() {
			for i := first; i < n && errs[first] == nil; i += atOnce {
				errs[first] = b.register(ctx, b.conn, prefix, make(i))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs[:]...)
}
