package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
)

// tracingOf starts tracing as the environment of hook-router would; shown is nil if it is off.
// flush sends pending spans, and returns the number of spans made.
func tracingOf(ctx context.Context, o options) (shown *telemetry.Telemetry, flush func(string) (string, error), err error) {
	if o.otlp == "" {
		return nil, func(string) (string, error) { return "", errors.New("tracing is off") }, nil
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": o.otlp,
		"OTEL_TRACES_SAMPLER":         "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": o.sampled,
	} {
		if err := os.Setenv(name, value); err != nil {
			return nil, nil, err
		}
	}
	shown, err = telemetry.Start(ctx, telemetry.Options{Exporters: otlp.Exporters(), Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	return shown, func(string) (string, error) {
		made, err := shown.Tracer.Flush(ctx)
		return strconv.FormatInt(made, 10), err
	}, err
}

// gatesRole serves the hooks of the routers with and without tracing. The last hook denies marked
// events.
func gatesRole(ctx context.Context, o options, ready readyFunc) error {
	b, err := natsx.Connect(natsx.Options{URL: o.nats, Name: "gates"})
	if err != nil {
		return err
	}
	defer b.Close()
	answer := func(m *nats.Msg) { _ = m.Respond([]byte(`{"action":"continue"}`)) }
	judge := func(m *nats.Msg) {
		if strings.HasPrefix(m.Header.Get("ce-id"), deniedMark) {
			_ = m.Respond([]byte(`{"action":"deny","reason":"it is marked"}`))
			return
		}
		answer(m)
	}
	for _, prefix := range []string{prefixUntraced, prefixTraced, prefixTenth} {
		for i := range 3 {
			do := answer
			if i == gateHook {
				do = judge
			}
			if _, err := b.Conn().QueueSubscribe(subjects(prefix).Call(hopID(i)), hopID(i), do); err != nil {
				return err
			}
		}
	}
	if err := b.Conn().FlushTimeout(5 * time.Second); err != nil {
		return err
	}
	ready("")
	<-ctx.Done()
	return nil
}
