package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/execkind"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/hookfile/kinds"
	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// version is set by the build for a release.
var version = "0.1.0"

// inputError is an error of the command line or of the file.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// flags are those of the program; each defaults to an environment variable.
type flags struct {
	Run      serve            `cmd:"" default:"withargs" help:"Answer for the hooks of a file (the default)."`
	Validate validate         `cmd:"" help:"Check a file; print what is wrong with it."`
	Replay   replayEvents     `cmd:"" help:"Run events through the hooks of a file and print what they decide; needs no NATS."`
	Version  kong.VersionFlag `help:"Print the version."`
}

// serve answers for the hooks of a file.
type serve struct {
	Config    string     `env:"HOOK_WORKER_CONFIG" required:"" type:"path" placeholder:"FILE" help:"The worker file."`
	NATSURL   string     `name:"nats-url" env:"HOOK_WORKER_NATS_URL" placeholder:"URL" help:"NATS servers, comma-separated; else what the file says, else nats://127.0.0.1:4222."`
	NATSCreds string     `name:"nats-creds" env:"HOOK_WORKER_NATS_CREDS" type:"path" placeholder:"FILE" help:"Credentials file."`
	Prefix    string     `env:"HOOK_WORKER_PREFIX" placeholder:"TOKEN" help:"First token of every subject; else what the file says, else hooks."`
	LogLevel  slog.Level `env:"HOOK_WORKER_LOG_LEVEL" default:"info" help:"debug, info, warn or error; SIGHUP changes between debug and this one."`
}

// validate checks files.
type validate struct {
	Files []string `arg:"" name:"file" type:"path" help:"Worker files."`
}

// run is the program without the process around it. hangup tells of SIGHUP; it may be
// nil.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, hangup <-chan os.Signal) error {
	var f flags
	exited := false
	parser, err := kong.New(&f,
		kong.Name("hook-worker"),
		kong.Description("Answers for the hooks that a YAML file describes."),
		kong.Vars{"version": buildVersion()},
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { exited = true }),
	)
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if exited { // --help or --version
		return nil
	}
	if err != nil {
		return inputError{fmt.Errorf("%w (see hook-worker --help)", err)}
	}
	switch name, _, _ := strings.Cut(command.Command(), " "); name {
	case "validate":
		return f.Validate.run(stdout, stderr)
	case "replay":
		return f.Replay.run(ctx, stdout, stderr)
	default:
		return f.Run.run(ctx, stderr, hangup)
	}
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return version
}

func (v validate) run(stdout, stderr io.Writer) error {
	var wrong error
	for _, path := range v.Files {
		file, err := load(path, stderr)
		if err != nil {
			wrong = err
			continue
		}
		fmt.Fprintf(stdout, "%s: %d hooks, all well\n", path, len(file.Hooks))
	}
	return wrong
}

// load reads a file and prints what is wrong with it, each with its line.
func load(path string, stderr io.Writer) (*hookfile.File, error) {
	file, err := hookfile.Load(path, kinds.All(kind.Worker{Dir: filepath.Dir(path)}))
	if err == nil {
		return file, nil
	}
	all := hookfile.Errors(err)
	if len(all) == 0 {
		return nil, inputError{err}
	}
	for _, e := range all {
		fmt.Fprintf(stderr, "%v\n%s", e, e.Snippet())
	}
	return nil, inputError{fmt.Errorf("%s: errors found: %d", path, len(all))}
}

// run registers every hook and answers until ctx ends; then what was taken is
// answered.
func (s serve) run(ctx context.Context, stderr io.Writer, hangup <-chan os.Signal) (err error) {
	file, err := load(s.Config, stderr)
	if err != nil {
		return err
	}
	url := cmp.Or(s.NATSURL, file.NATS.URL, "nats://127.0.0.1:4222")
	prefix := cmp.Or(s.Prefix, file.NATS.Prefix, events.DefaultPrefix)
	level := &slog.LevelVar{}
	level.Set(s.LogLevel)
	lines := slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})
	shown, err := telemetry.Start(ctx, telemetry.Options{Service: "hook-worker", Version: buildVersion(), Env: true, Global: true, Log: slog.New(lines)})
	if err != nil {
		return inputError{err}
	}
	defer func() { stopTelemetry(ctx, shown) }()
	log := slog.New(shown.LogTo(lines, level))
	defer telemetry.ToggleLevel(level, hangup, log)()
	w, err := worker.Connect(ctx, worker.Options{URL: url, Prefix: prefix, Creds: s.NATSCreds, Version: version, Log: log})
	if err != nil {
		return err
	}
	for _, h := range file.Hooks {
		waiting := after(patience, func() {
			log.Warn("no router has answered yet: still waiting. Is one running? `hook-router` starts one with a NATS of its own, `hook-router --nats-url URL` one on this NATS",
				"subject", prefix+".register."+h.Registration.ID, "nats", bus.RedactURL(url))
		})
		err := register(ctx, w, h, log, stderr)
		waiting()
		if err != nil {
			if ctx.Err() != nil {
				return w.Run(ctx) // told to end before it was ready
			}
			ctx, end := context.WithCancel(ctx)
			end() // what is registered already is taken back
			return errors.Join(err, w.Run(ctx))
		}
	}
	hooks := "1 hook"
	if n := len(file.Hooks); n != 1 {
		hooks = fmt.Sprintf("%d hooks", n)
	}
	fmt.Fprintf(stderr, "hook-worker %s answers for %s on %s\n", version, hooks, bus.RedactURL(url))
	return w.Run(ctx)
}

// stopTelemetry sends the last spans, for as long as a collector may take.
func stopTelemetry(ctx context.Context, shown *telemetry.Telemetry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	_ = shown.Stop(ctx) // the worker's work is done
}

// patience is how long a registration may take before the operator is told.
const patience = 700 * time.Millisecond

// after calls do when the time is over, unless stop is called before. stop waits
// for a do that has begun.
func after(d time.Duration, do func()) (stop func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(d, func() { defer close(done); do() })
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

func register(ctx context.Context, w *worker.Worker, h hookfile.Hook, log *slog.Logger, stderr io.Writer) error {
	reg := h.Registration
	if _, err := w.Register(ctx, reg, logged(h, log)); err != nil {
		return err
	}
	reg = reg.WithDefaults()
	fmt.Fprintf(stderr, "registered %s: %s on %s, priority %d, on_failure %s, mode %s\n",
		reg.ID, h.Kind, strings.Join(reg.Events, " "), reg.Priority, reg.OnFailure, reg.Mode)
	return nil
}

// logged is a hook's handler that logs its failures. What they mean for the event
// is logged by the router, which may be far away.
func logged(h hookfile.Hook, log *slog.Logger) kind.Handler {
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		result, err := h.Handler(ctx, ev)
		if err != nil {
			attrs := []any{"hook", h.Registration.ID, "kind", h.Kind, "event", ev.Name, "error", err}
			if failure, ok := errors.AsType[*execkind.Failure](err); ok && failure.Stderr != "" {
				attrs = append(attrs, "stderr", failure.Stderr)
			}
			log.Warn("the hook failed", attrs...)
		}
		return result, err
	}
}
