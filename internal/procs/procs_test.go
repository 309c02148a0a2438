package procs_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/procs"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestOneProcessorUntilThereIsMuchToDo(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	if all == 1 || runtime.GOOS == "windows" {
		t.Skip("there is one processor only, or the CPU time is not known")
	}
	t.Setenv("GOMAXPROCS", "")
	ctx, cancel := context.WithCancel(t.Context())
	var tuning sync.WaitGroup
	tuning.Go(func() { procs.Tune(ctx, 20*time.Millisecond) })
	testkit.Eventually(t, "an idle process has one", func() bool { return runtime.GOMAXPROCS(0) == 1 })

	busy, relax := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for range all {
		work.Go(func() {
			for busy.Err() == nil {
			}
		})
	}
	testkit.Eventually(t, "a busy one has all", func() bool { return runtime.GOMAXPROCS(0) == all })
	relax()
	work.Wait()
	testkit.Eventually(t, "it gives them back", func() bool { return runtime.GOMAXPROCS(0) == 1 })

	procs.Concurrent()
	if n := runtime.GOMAXPROCS(0); n != all {
		t.Errorf("%d processors for concurrent work, want %d", n, all)
	}
	testkit.Eventually(t, "and back again", func() bool { return runtime.GOMAXPROCS(0) == 1 })

	cancel()
	tuning.Wait()
	if n := runtime.GOMAXPROCS(0); n != all {
		t.Errorf("%d processors at the end, want %d", n, all)
	}
}

func TestTheOperatorsNumberStays(t *testing.T) {
	t.Setenv("GOMAXPROCS", "2")
	ended := make(chan struct{})
	go func() {
		procs.Tune(t.Context(), time.Millisecond)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("it goes on, though the variable GOMAXPROCS says how many")
	}
}
