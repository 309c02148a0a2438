package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestNoCallIsMissedWhileARegistrationChanges(t *testing.T) {
	t.Parallel()
	_, w, a := one(t, router.Options{})
	register(t, w, worker.Registration{ID: "hook"}, deny("here"))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			answer, err := a.Emit(t.Context(), "tool:pre", nil)
			if err != nil || answer.Reason != "here" || answer.Hooks != 1 {
				t.Errorf("%+v, %v", answer, err)
			}
		}
		done <- n
	}()
	const updates = 50
	for i := range updates {
		if _, err := w.Update(t.Context(), worker.Registration{ID: "hook", Events: []string{"tool:*"}, Priority: i, Match: fmt.Sprintf("%d >= 0", i)}); err != nil {
			t.Error(err)
		}
	}
	stop()
	t.Logf("volume: %d emits over %d updates", <-done, updates)
	if list := listing(t, a); len(list) != 1 || list[0].Priority != updates-1 || len(list[0].Instances) != 1 {
		t.Errorf("listed is %+v", list)
	}
}

func TestAnUpdateIsInForceWhenItReturnsAndIsUndone(t *testing.T) {
	t.Parallel()
	s, w, a := one(t, router.Options{})
	routertest.Start(t, s, router.Options{})
	register(t, w, worker.Registration{ID: "hook", Version: "1.0.0"}, deny("here"))
	for range 20 {
		undo, err := w.Update(t.Context(), worker.Registration{ID: "hook", Events: []string{"tool:post"}, Version: "2.0.0"})
		if err != nil {
			t.Fatal(err)
		}
		if answer := emit(t, a, `{}`); answer.Hooks != 0 {
			t.Fatalf("after the update: %+v", answer)
		}
		if err := undo(t.Context()); err != nil {
			t.Fatal(err)
		}
		if answer := emit(t, a, `{}`); answer.Reason != "here" {
			t.Fatalf("after it was undone: %+v", answer)
		}
	}
	if list := listing(t, a); list[0].Version != "2.0.0" {
		t.Errorf("put back as version %q: an older one can't come back", list[0].Version)
	}
}

func TestAContributorIsUpdated(t *testing.T) {
	t.Parallel()
	_, w, a := one(t, router.Options{})
	_, err := w.RegisterContributor(t.Context(), worker.Registration{ID: "c", Channels: []string{"a"}}, func(_ context.Context, channel string) (any, error) { return channel, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Update(t.Context(), worker.Registration{ID: "c", Channels: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	for channel, want := range map[string]int{"a": 0, "b": 1} {
		if got, err := a.CollectContributions(t.Context(), channel, 5*time.Second); err != nil || len(got.Values) != want {
			t.Errorf("on %s: %+v, %v", channel, got, err)
		}
	}
}

func TestARefusedUpdateChangesNothing(t *testing.T) {
	t.Parallel()
	s, w, a := one(t, router.Options{})
	register(t, w, worker.Registration{ID: "hook", Version: "2.0.0"}, deny("here"))
	alone := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{})
	gone := register(t, w, worker.Registration{ID: "gone"}, deny("gone"))
	if err := gone(t.Context()); err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		w    *worker.Worker
		reg  worker.Registration
		want string
	}{
		"an older version":           {w, worker.Registration{ID: "hook", Events: []string{"tool:post"}, Version: "1.0.0"}, `version "1.0.0" is older`},
		"a match that is no CEL":     {w, worker.Registration{ID: "hook", Events: []string{"tool:post"}, Version: "2.0.0", Match: "data.n >"}, "register hook hook: "},
		"no event":                   {w, worker.Registration{ID: "hook"}, "exactly one of events and channels"},
		"a hook as a contributor":    {w, worker.Registration{ID: "hook", Channels: []string{"a"}}, "can't become a contributor"},
		"another worker's":           {alone, worker.Registration{ID: "hook", Events: []string{"*"}}, "not registered by this worker"},
		"what was taken off already": {w, worker.Registration{ID: "gone", Events: []string{"*"}}, "not registered by this worker"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if undo, err := c.w.Update(t.Context(), c.reg); err == nil || !strings.Contains(err.Error(), c.want) || undo != nil {
				t.Errorf("error is %v", err)
			}
			if answer := emit(t, a, `{}`); answer.Reason != "here" || answer.Hooks != 1 {
				t.Errorf("answer %+v", answer)
			}
		})
	}
}

// What became of an update that nobody answered is not known: then the old
// registration is sent again, until it is answered.
func TestAnUpdateWithoutAnAnswerIsTakenBack(t *testing.T) {
	natstest.Bubble(t, takenBack)
}

func takenBack(t *testing.T) {
	s := natstest.Server(t)
	nc := natstest.Conn(t, s)
	r := startRegistrar(t, nc, 30*time.Second) // no renewal is due, and waits, during the update
	sent, err := nc.SubscribeSync("hooks.register.hook")
	if err != nil {
		t.Fatal(err)
	}
	w := connect(t, hookrouter.Options{Conn: natstest.Conn(t, s)}, worker.Options{})
	register(t, w, worker.Registration{ID: "hook"}, deny("here"))
	r.muteFor(func(string) bool { return true })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := w.Update(ctx, worker.Registration{ID: "hook", Events: []string{"tool:post"}, Version: "2"}); err == nil {
		t.Fatal("an update that nobody answered has no error")
	}
	r.release()
	if seen := onEvent(t, sent, "tool:post"); seen.Version != "2" {
		t.Errorf("the update was sent as %+v", seen)
	}
	for range 3 { // in its place, and as the renewals
		if back := onEvent(t, sent, ""); back.Events[0] != "tool:pre" || back.Version != "2" {
			t.Errorf("then %+v was sent", back)
		}
	}
}

// onEvent is the next registration that was sent for an event, or for any.
func onEvent(t *testing.T, sent *nats.Subscription, event string) (reg chain.Registration) {
	t.Helper()
	for {
		m, err := sent.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		reg = chain.Registration{}
		if err := json.Unmarshal(m.Data, &reg); err != nil {
			t.Fatal(err)
		}
		if event == "" || reg.Events[0] == event {
			return reg
		}
	}
}

func listing(t *testing.T, a *agent.Agent) []agent.Listing {
	t.Helper()
	list, err := a.Registry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}
