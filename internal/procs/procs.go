// Package procs keeps a router or worker with little to do on one processor. Each message goes
// from goroutine to goroutine, and with several processors the scheduler wakes another thread
// for most of them: with one event under way that costs more than the work itself.
package procs

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A process that used less than narrow of a processor gets one, and one that used more than
// wide gets all of them. What is between stays as it is.
const (
	narrow = 0.5
	wide   = 0.75
)

// Interval is how often a process looks at what it used.
const Interval = time.Second

// state is of the process, as GOMAXPROCS is.
var state struct {
	concurrent atomic.Bool // said since the last look

	mu  sync.Mutex  // guards GOMAXPROCS, and the writes of one
	one atomic.Bool // the process has one processor
}

// Concurrent reports work for several processors at once. The process has all of them when it
// returns, and keeps them for at least an interval. The call is cheap while it has them.
func Concurrent() {
	if !state.concurrent.Load() {
		state.concurrent.Store(true)
	}
	if state.one.Load() {
		all()
	}
}

// Tune begins with one processor, looks at each interval how much of one the process used,
// and sets GOMAXPROCS by it until ctx ends; then it is as it was. It does nothing where the
// variable GOMAXPROCS is set, where there is one processor only, and where the system does
// not tell the CPU time.
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
