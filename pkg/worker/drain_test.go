package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// TestRunWaitsForTheLongestCall has a call that takes longer than most programs are
// given to end, and less than a call may take.
func TestRunWaitsForTheLongestCall(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		_, w, a := one(t, router.Options{})
		ctx, stop := context.WithCancel(t.Context())
		register(t, w, worker.Registration{ID: "hook", TimeoutMS: 20_000}, func(context.Context, worker.Event) (worker.Result, error) {
			stop()
			<-time.After(11 * time.Second)
			return worker.Deny("after all")
		})
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		if answer := emit(t, a, `{}`); answer.Reason != "after all" {
			t.Errorf("answer %+v", answer)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestUnregisterAnswersWhatWaits(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	w, err := worker.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{MaxInFlight: 1})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	watch := natstest.Conn(t, s)
	if _, err := watch.Subscribe("hooks.call.hook", func(*nats.Msg) { calls.Add(1) }); err != nil {
		t.Fatal(err)
	}
	if err := watch.Flush(); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	unregister := register(t, w, worker.Registration{ID: "hook"}, func(context.Context, worker.Event) (worker.Result, error) {
		<-release
		return worker.Deny("answered")
	})
	const n = 4
	got := make(answers, n)
	a := connectAgent(t, s)
	for range n {
		go got.emit(t, a)
	}
	eventually(t, "the hook has all calls", func() bool { return calls.Load() == n })
	if err := unregister(t.Context()); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- w.Close(context.Background()) }()
	close(release)
	for range n {
		if answer := <-got; answer.Reason != "answered" {
			t.Errorf("answer %+v", answer)
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
