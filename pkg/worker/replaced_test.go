package worker_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// A worker whose guard somebody else registered again, in a higher version that decides
// nothing, says so once.
func TestAWorkerSaysThatItsRegistrationWasReplaced(t *testing.T) {
	natstest.Bubble(t, saysReplaced)
}

func saysReplaced(t *testing.T) {
	s, _, _ := one(t, router.Options{Registry: registry.Options{TTL: 300 * time.Millisecond}})
	told := make(chan worker.Registration, 8)
	var log bytes.Buffer
	w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s), Log: slog.New(slog.NewTextHandler(&log, nil))}, worker.Options{
		OnReplaced: func(hook string, inForce worker.Registration) {
			if hook != "guard" {
				t.Errorf("told of %q", hook)
			}
			told <- inForce
		},
	})
	register(t, w, worker.Registration{ID: "guard", OnFailure: worker.FailClosed, Version: "1.0.0"}, passes)
	attacker := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{})
	register(t, attacker, worker.Registration{ID: "guard", OnFailure: worker.FailClosed, Version: "9.0.0", Mode: chain.Shadow}, passes)
	if inForce := testkit.Receive(t, "the replacement", told); inForce.Mode != chain.Shadow || inForce.Version != "9.0.0" {
		t.Errorf("told of %+v", inForce)
	}
	renewals := make(chan *nats.Msg, 64)
	if _, err := natstest.Conn(t, s).ChanSubscribe("hooks.register.guard", renewals); err != nil {
		t.Fatal(err)
	}
	for range 6 { // three of each worker
		testkit.Receive(t, "a renewal", renewals)
	}
	if err := w.Close(testkit.Within(t, patience)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(log.String(), "registration replaced by another"); got != 1 || len(told) != 0 {
		t.Errorf("logged %d times, told %d times more: %s", got, len(told), log.String())
	}
}

func passes(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() }
