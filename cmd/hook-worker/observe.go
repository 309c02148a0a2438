package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/procs"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
	"github.com/hookrouter/hookrouter/internal/version"
)

// observed has the log, traces, metrics and health pages of a running worker, and the tuning of its
// processors.
type observed struct {
	log    *slog.Logger
	tel    *telemetry.Telemetry
	pages  *health
	toggle func() // stops toggling the log level

	tuning sync.WaitGroup // runs procs.Tune until untune
	untune context.CancelFunc
}

// observe starts the log, telemetry and health pages, and tunes the process. The caller must stop them.
func (s serve) observe(ctx context.Context, p process) (*observed, error) {
	level := &slog.LevelVar{}
	level.Set(s.LogLevel)
	lines := telemetry.LogLines(p.stderr, level)
	tel, err := telemetry.Start(ctx, telemetry.Options{Service: "hook-worker", Version: version.String(), Exporters: otlp.Exporters(), Global: true, Log: slog.New(lines)})
	if err != nil {
		return nil, workerfiles.InputError(err)
	}
	log := slog.New(tel.LogTo(lines, level))
	o := &observed{log: log, tel: tel, toggle: telemetry.ToggleLevel(level, p.signals.Level, log)}
	tuning, untune := context.WithCancel(ctx)
	o.untune = untune
	o.tuning.Go(func() { procs.Tune(tuning, procs.Interval) })
	if o.pages, err = serveHealth(ctx, s.HTTPListen, tel); err != nil {
		o.stop(ctx)
		return nil, err
	}
	return o, nil
}

// stop ends the pages and exports the last spans within a bounded time.
func (o *observed) stop(ctx context.Context) {
	if o.pages != nil {
		o.pages.close()
	}
	o.toggle()
	o.untune()
	o.tuning.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	_ = o.tel.Stop(ctx) // the worker's work is done
}
