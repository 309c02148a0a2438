// Package procs runs a router or worker with little load on one processor. Each message passes
// through several goroutines, and with several processors the scheduler usually wakes another
// thread for each of them. With one event in flight, that costs more than the work itself.
package procs

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A process that used less than narrow of a processor gets one processor, and one that used more
// than wide gets all of them. In between, nothing changes.
const (
	narrow = 0.5
	wide   = 0.75
)

// Interval is the interval that programs pass to [Tune].
const Interval = time.Second

// state is global, like GOMAXPROCS.
var state struct {
	concurrent atomic.Bool // Concurrent was called in this interval

	mu  sync.Mutex  // guards GOMAXPROCS and writes of one
	one atomic.Bool // the process has one processor
}

// Concurrent tells Tune that there is concurrent work. When it returns, the process has all
// processors. It keeps them for at least one interval. The call is cheap while the process has all
// processors.
func Concurrent() {
	if !state.concurrent.Load() {
		state.concurrent.Store(true)
	}
	if state.one.Load() {
		all()
	}
}

// Tune sets GOMAXPROCS to one, and adjusts it in each interval to the CPU time that the process
// used, until ctx ends. Then it restores the default. It does nothing if the variable GOMAXPROCS is
// set, if there is only one processor, or if the system does not report CPU time.
func Tune(ctx context.Context, interval time.Duration) {
	if os.Getenv("GOMAXPROCS") != "" || runtime.GOMAXPROCS(0) == 1 {
		return
	}
	before, ok := cpuTime()
	if !ok {
		return
	}
	one()
	defer all()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		used, _ := cpuTime()
		now := time.Now()
		share := float64(used-before) / float64(now.Sub(began))
		before, began = used, now
		switch concurrent := state.concurrent.Swap(false); {
		case concurrent || share > wide:
			all()
		case share < narrow:
			one()
		}
	}
}

func one() {
	state.mu.Lock()
	defer state.mu.Unlock()
	if !state.one.Load() {
		runtime.GOMAXPROCS(1)
		state.one.Store(true)
	}
}

func all() {
	state.mu.Lock()
	defer state.mu.Unlock()
	if state.one.Load() {
		runtime.SetDefaultGOMAXPROCS()
		state.one.Store(false)
	}
}
