// Command bench measures the router against a floor: a process in place of the router that only
// forwards. README.md describes the comparisons, and why the figures are ratios.
//
//	go run ./test/bench            all figures, about seven minutes
//	go run ./test/bench -short     a look, about a minute
//	go run ./test/bench -profile D CPU profiles of the router and the relay; with
//	                               -only audit or tracing of routers with and
//	                               without it
//
// The exit code is 0 if every figure meets its target, 1 if one does not (never with -short), 2 if
// the bench could not run, and 3 if an arm differs from itself, which makes the run invalid.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Exit codes.
const (
	codeMissed  = 1
	codeFailed  = 2
	codeInvalid = 3
)

// options are the flags.
type options struct {
	rounds  int
	slice   time.Duration
	short   bool
	json    bool
	profile string
	only    string
	base    string

	// For a child process.
	role, nats, prefix, store, audit string
	otlp, sampled                    string
	sync                             bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.rounds, "rounds", 24, "rounds of each comparison")
	flags.DurationVar(&o.slice, "slice", 40*time.Millisecond, "how long an arm runs at a time; six times in each round")
	flags.BoolVar(&o.short, "short", false, "few rounds, and no judgement but that on the run itself")
	flags.BoolVar(&o.json, "json", false, "print one JSON object instead of a table")
	flags.StringVar(&o.profile, "profile", "", "only write CPU profiles into this directory, and what a chain costs each process; with -only audit or tracing those of routers with and without it")
	flags.StringVar(&o.only, "only", "", "only this part: floor, further, skipped, execute, collect, startup, hook-agent, policies, tracing or audit")
	flags.StringVar(&o.base, "dir", os.TempDir(), "where the servers keep their files while it runs: on a disk, for the audit part")
	flags.StringVar(&o.role, "role", "", "internal: what this process is")
	flags.StringVar(&o.nats, "nats", "", "internal: URL of the server")
	flags.StringVar(&o.prefix, "prefix", "", "internal: prefix of the subjects")
	flags.StringVar(&o.store, "store", "", "internal: the server's files")
	flags.BoolVar(&o.sync, "sync", false, "internal: whether the server syncs its writes")
	flags.StringVar(&o.audit, "audit", "off", "internal: the router's audit mode")
	flags.StringVar(&o.otlp, "otlp", "", "internal: the collector of the router's spans; empty for no tracing")
	flags.StringVar(&o.sampled, "sampled", "1", "internal: the share of traces that are sampled")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case err != nil || flags.NArg() > 0:
		return codeFailed, errors.New("wrong flags: see -help")
	}
	if o.role != "" {
		if err := runRole(ctx, o); err != nil {
			return codeFailed, fmt.Errorf("%s: %w", o.role, err)
		}
		return 0, nil
	}
	if o.short {
		o.rounds, o.slice = min(o.rounds, 6), min(o.slice, 20*time.Millisecond)
	}
	rep, err := measure(ctx, o, stderr)
	if err != nil {
		return codeFailed, err
	}
	if o.profile != "" {
		return 0, nil
	}
	if o.json {
		err = rep.writeJSON(stdout)
	} else {
		err = rep.writeTable(stdout)
	}
	if err != nil {
		return codeFailed, err
	}
	return rep.exitCode(), nil
}

// measure starts the processes and runs the parts in sequence.
func measure(ctx context.Context, o options, progress io.Writer) (*report, error) {
	began := time.Now()
	dir, err := os.MkdirTemp(o.base, "hookrouter-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w: name another place with -dir", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{options: o, dir: dir, progress: progress, report: &report{Short: o.short, Rounds: o.rounds, Valid: true}, sent: map[string]int{}, denied: map[string]int{}}
	defer b.stop()
	if o.only == "" && o.profile == "" || o.only == partAudit {
		if err := b.lookAtDisk(); err != nil {
			return nil, err
		}
	}
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	b.report.Environment = environment(b.conn.ConnectedServerVersion())
	parts := []struct {
		name string
		run  func(context.Context) error
	}{
		{"floor", b.floor},
		{"further", b.further},
		{"skipped", b.skipped},
		{"execute", b.execute},
		{"collect", b.collect},
		{"startup", b.startup},
		{"hook-agent", b.hookAgent},
		{partPolicies, b.policies},
		{partTracing, b.tracing},
		{partAudit, b.audit},
	}
	if o.profile != "" && o.only == partTracing {
		return b.report, b.profileTracing(ctx)
	}
	if o.profile != "" && o.only == partAudit {
		return b.report, b.profileAudit(ctx)
	}
	if o.profile != "" {
		return b.report, b.profile(ctx, newArm("relay", prefixRelay, eventThree, 3), newArm(prefixRouter, prefixRouter, eventThree, 3))
	}
	for _, part := range parts {
		if o.only != "" && o.only != part.name {
			continue
		}
		fmt.Fprintf(progress, "bench: %s ...\n", part.name)
		if err := part.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	b.report.LoadAfter = loadAverage()
	b.report.Elapsed = time.Since(began).Round(time.Second).String()
	return b.report, nil
}
