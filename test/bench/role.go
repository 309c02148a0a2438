package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/recorder"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/procs"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
)

// readyFunc reports that a role is ready, and starts to accept orders: those of profiling, and
// more.
type readyFunc func(text string, more ...order)

// order is a command to a child process; its answer is one line.
type order struct {
	name string
	do   func(argument string) (answer string, err error)
}

// runRole runs a child process with a role. It prints one line when the role is ready, and ends
// with its standard input.
func runRole(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	roles := map[string]func(context.Context, options, readyFunc) error{
		"nats": natsRole, "router": routerRole, "relay": relayRole, "hooks": hooksRole, "gates": gatesRole, "collector": collectorRole,
		"worker": workerRole,
	}
	role := roles[o.role]
	if role == nil {
		return errors.New("there is no such role")
	}
	return role(ctx, o, func(text string, more ...order) {
		go func() {
			defer cancel()
			obey(append(profiling(), more...))
		}()
		fmt.Printf("ready %s\n", text)
	})
}

// obey executes orders from standard input until it ends.
func obey(orders []order) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		name, argument, _ := strings.Cut(in.Text(), " ")
		answer, err := "", errors.New("there is no such order")
		for _, o := range orders {
			if o.name == name {
				answer, err = o.do(argument)
			}
		}
		if err != nil {
			fmt.Printf("failed %v\n", err)
		} else {
			fmt.Printf("done %s\n", answer)
		}
	}
}

// profiling returns the orders that start and stop a CPU profile.
func profiling() []order {
	var file *os.File
	return []order{
		{"profile", func(name string) (_ string, err error) {
			if file, err = os.Create(name); err == nil {
				err = pprof.StartCPUProfile(file)
			}
			return "", err
		}},
		{"profiled", func(string) (string, error) {
			pprof.StopCPUProfile()
			return "", file.Close()
		}},
	}
}

// natsRole runs a server. The server of the floor does not sync its writes, since only
// registrations are written there, and not during measurements.
func natsRole(ctx context.Context, o options, ready readyFunc) error {
	s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: o.store, NoSync: !o.sync})
	if err != nil {
		return err
	}
	defer s.Stop()
	ready(s.ClientURL())
	<-ctx.Done()
	return nil
}

// routerRole runs a router like hook-router, with --nats-url if there is a URL, otherwise with its
// embedded server. The log level is info, as by default. Only the time-to-live differs, since the
// hooks of the bench do not renew.
func routerRole(ctx context.Context, o options, ready readyFunc) error {
	server.TuneGC()
	go procs.Tune(ctx, procs.Interval)
	mode := recorder.Mode(o.audit)
	var key *signer.Key
	if mode != recorder.Off {
		var err error
		if key, err = signer.LoadKey(filepath.Join(o.store, keyFile)); err != nil {
			return err
		}
	}
	shown, flush, err := tracingOf(ctx, o)
	if err != nil {
		return err
	}
	n, err := server.Start(ctx, server.Options{
		Telemetry: shown,
		NATS:      natsx.Options{URL: o.nats, Prefix: o.prefix},
		Listen:    "127.0.0.1:0", StoreDir: o.store,
		Router: router.Options{Registry: registry.Options{TTL: time.Hour}, Audit: auditlog.Options{Key: key, Recorder: recorder.Options{Mode: mode}}},
		Log:    slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	if err != nil {
		return err
	}
	a := appender{connection: natsx.Options{URL: o.nats, InProcess: n.InProcess(), Prefix: o.prefix, Name: "append"}}
	defer a.close()
	return n.Run(ctx, func() {
		ready(n.ClientURL(), order{"append", func(times string) (string, error) { return a.measure(ctx, times) }}, order{"flush", flush})
	})
}

// hooksRole serves all hooks of both routers. The relay calls those of the first router.
func hooksRole(ctx context.Context, o options, ready readyFunc) error {
	b, err := natsx.Connect(natsx.Options{URL: o.nats, Name: "hooks"})
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
