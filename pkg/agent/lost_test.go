package agent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// The server goes while a hook thinks: the agent is told so, and does not wait
// for an answer that can't come.
func TestEmitEndsWithTheConnection(t *testing.T) {
	natstest.Bubble(t, endsWithTheConnection)
}

func endsWithTheConnection(t *testing.T) {
	s, err := embedded.Start(embedded.Options{StoreDir: natstest.StoreDir(t), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	_, stopRouter := routertest.Start(t, s, router.Options{DrainTimeout: time.Second})
	w, err := worker.New(natstest.Client(t, hookrouter.Options{NATS: []nats.Option{nats.InProcessServer(s)}}), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	inside := make(chan struct{})
	_, err = w.Register(t.Context(), worker.Registration{ID: "slow", Events: []string{"e"}, TimeoutMS: 500},
		func(ctx context.Context, _ worker.Event) (worker.Result, error) {
			close(inside)
			<-ctx.Done()
			return worker.Result{}, ctx.Err()
		})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(natstest.Client(t, hookrouter.Options{NATS: []nats.Option{nats.InProcessServer(s)}}), agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := a.Emit(context.Background(), "e", nil)
		answer <- err
	}()
	<-inside
	s.Stop()
	began := time.Now()
	if err := <-answer; !errors.Is(err, hookrouter.ErrConnectionLost) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	stopRouter()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.Close(ctx) // there is nobody to say goodbye to
}
