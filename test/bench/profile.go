package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// profile runs the 3-hop chain with 64 in flight through the router and the
// relay in turn, and writes a CPU profile of each, and what a chain costs each
// process in CPU time.
func (b *bench) profile(ctx context.Context) error {
	if err := os.MkdirAll(b.options.profile, 0o755); err != nil {
		return fmt.Errorf("make a directory for the profiles: %w", err)
	}
	for _, run := range []struct{ prefix, name string }{{prefixFloor, "relay"}, {prefixRouter, prefixRouter}} {
		a := newArm(run.name, run.prefix, eventThree, 3)
		n, err := b.warmUp(ctx, 64, []arm{a})
		if err != nil {
			return err
		}
		n = int(float64(n) * 8 / b.slice.Seconds())
		file, err := filepath.Abs(filepath.Join(b.options.profile, run.name+".pprof"))
		if err != nil {
			return err
		}
		before := b.cpuTimes()
		if err := b.byName[run.name].order("profile " + file); err != nil {
			return err
		}
		s, err := b.load(ctx, a, 64, n)
		if err != nil {
			return err
		}
		if err := b.byName[run.name].order("profiled"); err != nil {
			return err
		}
		fmt.Fprintf(b.progress, "%s: %d chains, %.0f chains/s, us of CPU time per chain:", run.name, n, s.rate())
		for name, spent := range b.cpuTimes() {
			fmt.Fprintf(b.progress, " %s %.1f", name, float64((spent-before[name]).Microseconds())/float64(n))
		}
		fmt.Fprintln(b.progress)
	}
	return nil
}

// cpuTimes is what each process has used so far, this one as the agent.
func (b *bench) cpuTimes() map[string]time.Duration {
	times := map[string]time.Duration{"agent": cpuTime(os.Getpid())}
	for name, p := range b.byName {
		times[name] = cpuTime(p.cmd.Process.Pid)
	}
	return times
}

// cpuTime reads /proc; a clock tick is 10 ms.
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
