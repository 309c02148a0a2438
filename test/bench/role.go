package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/internal/embedded"
	"github.com/hookrouter/hookrouter/internal/node"
	"github.com/hookrouter/hookrouter/internal/router"
)

// runRole is a child process: it starts what the role says, prints one line when
// that serves, and ends when its standard input does.
func runRole(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	roles := map[string]func(context.Context, options, func(string)) error{
		"nats": natsRole, "router": routerRole, "relay": relayRole, "hooks": hooksRole,
	}
	role := roles[o.role]
	if role == nil {
		return errors.New("there is no such role")
	}
	go func() {
		defer cancel()
		obey()
	}()
	return role(ctx, o, func(text string) { fmt.Printf("ready %s\n", text) })
}

// obey reads orders from standard input until it ends: "profile FILE" begins a
// CPU profile and "profiled" completes it.
func obey() {
	var file *os.File
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		order, name, _ := strings.Cut(in.Text(), " ")
		var err error
		switch order {
		case "profile":
			if file, err = os.Create(name); err == nil {
				err = pprof.StartCPUProfile(file)
			}
		case "profiled":
			pprof.StopCPUProfile()
			err = file.Close()
		}
		fmt.Printf("done %v\n", err)
	}
}

// natsRole is the server. It does not sync its writes: only registrations are
// written, and none while something is measured.
func natsRole(ctx context.Context, o options, ready func(string)) error {
	s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: o.store, NoSync: true})
	if err != nil {
		return err
	}
	defer s.Stop()
	ready(s.ClientURL())
	<-ctx.Done()
	return nil
}

// routerRole is hook-router --nats-url, its log at info as by default. Only the
// time-to-live differs: the hooks of the bench do not renew.
func routerRole(ctx context.Context, o options, ready func(string)) error {
	node.TuneGC()
	n, err := node.Start(ctx, node.Options{
		NATS:   bus.Options{URL: o.nats, Prefix: o.prefix},
		Router: router.Options{TTL: time.Hour},
		Log:    slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	if err != nil {
		return err
	}
	return n.Run(ctx, func() { ready("") })
}

// hooksRole is the process behind all hooks of both routers. The relay calls the
// subjects of the first.
func hooksRole(ctx context.Context, o options, ready func(string)) error {
	b, err := bus.Connect(bus.Options{URL: o.nats, Name: "hooks"})
	if err != nil {
		return err
	}
	defer b.Close()
	answer := func(m *nats.Msg) { _ = m.Respond([]byte(`{"action":"continue"}`)) }
	give := func(m *nats.Msg) { _ = m.Respond([]byte(`{"action":"continue","data":{"n":1}}`)) }
	silent := func(*nats.Msg) {}
	for _, prefix := range []string{prefixRouter, prefixCrowd} {
		for i := range 10 {
			if _, err := b.Conn().QueueSubscribe(subjects(prefix).Call(hopID(i)), hopID(i), answer); err != nil {
				return err
			}
		}
	}
	for i := range collectHooks {
		do := give
		if i == silentHook {
			do = silent
		}
		if _, err := b.Conn().QueueSubscribe(subjects(prefixRouter).Call(collectID(i)), collectID(i), do); err != nil {
			return err
		}
	}
	if err := b.Conn().FlushTimeout(5 * time.Second); err != nil {
		return err
	}
	ready("")
	<-ctx.Done()
	return nil
}
