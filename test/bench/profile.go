package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// profileAudit profiles routers without audit and in strict mode.
func (b *bench) profileAudit(ctx context.Context) error {
	own, joined, err := b.startAudit(ctx)
	if err != nil {
		return err
	}
	return b.profile(ctx, own.off, own.strict, joined.off, joined.strict)
}

// profileTracing profiles routers without tracing, and with all traces or a tenth of them.
func (b *bench) profileTracing(ctx context.Context) error {
	t, err := b.startTracing(ctx)
	if err != nil {
		return err
	}
	b.slice *= longSlice
	if err := b.profile(ctx, t.off, t.tenth); err != nil {
		return err
	}
	return b.profile(ctx, t.off, t.every)
}

// profile runs the 3-hop chain with 64 in flight on each arm in turn. It writes a CPU profile of
// each arm's process, and the CPU time of each process per chain, which a busy machine affects less
// than the other figures.
func (b *bench) profile(ctx context.Context, arms ...arm) error {
	if err := os.MkdirAll(b.options.profile, 0o755); err != nil {
		return fmt.Errorf("make a directory for the profiles: %w", err)
	}
	n, err := b.warmUp(ctx, b.slice, 64, arms)
	if err != nil {
		return err
	}
	n *= 2
	for _, a := range arms {
		file, err := filepath.Abs(filepath.Join(b.options.profile, a.name+".pprof"))
		if err != nil {
			return err
		}
		if _, err := b.byName[a.name].order("profile " + file); err != nil {
			return err
		}
	}
	spent := make([]map[string]time.Duration, len(arms))
	rate := make([][]float64, len(arms))
	const rounds = 24
	for round := range rounds {
		for _, i := range armOrder(len(arms), round) {
			before := b.cpuTimes()
			s, err := b.load(ctx, arms[i], 64, n)
			if err != nil {
				return err
			}
			rate[i] = append(rate[i], s.rate())
			if spent[i] == nil {
				spent[i] = map[string]time.Duration{}
			}
			for name, t := range b.cpuTimes() {
				spent[i][name] += t - before[name]
				spent[i]["all"] += t - before[name]
			}
		}
	}
	for i, a := range arms {
		if _, err := b.byName[a.name].order("profiled"); err != nil {
			return err
		}
		fmt.Fprintf(b.progress, "%s: %.0f chains/s, us of CPU time per chain:", a.name, median(slices.Clone(rate[i])))
		for _, name := range slices.Sorted(maps.Keys(spent[i])) {
			if each := float64(spent[i][name].Microseconds()) / float64(2*rounds*n); each >= 1 {
				fmt.Fprintf(b.progress, " %s %.1f", name, each)
			}
		}
		fmt.Fprintln(b.progress)
	}
	for i := 1; i < len(arms); i += 2 {
		fmt.Fprintf(b.progress, "CPU time of all, %s over %s: %.3f; chains/s: %.3f\n", arms[i-1].name, arms[i].name,
			float64(spent[i-1]["all"])/float64(spent[i]["all"]), medianRatio(rate[i], rate[i-1]))
	}
	return nil
}

// cpuTimes returns the CPU time of each process so far. This process is the agent.
func (b *bench) cpuTimes() map[string]time.Duration {
	times := map[string]time.Duration{"agent": cpuTime(os.Getpid())}
	for name, p := range b.byName {
		times[name] = cpuTime(p.cmd.Process.Pid)
	}
	return times
}

// cpuTime returns the CPU time of a process from /proc, with clock ticks of 10 ms; 0 if it can't be
// read.
func cpuTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	var ticks int
	for _, i := range []int{11, 12} { // utime and stime
		if i < len(fields) {
			n, _ := strconv.Atoi(fields[i])
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
