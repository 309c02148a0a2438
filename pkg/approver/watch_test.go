package approver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// sight is a Watch that runs, its notices as text.
type sight struct {
	t       *testing.T
	notices chan string
	done    chan error
	cancel  func()
}

func watch(t *testing.T, a *approver.Approver) *sight {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &sight{t, make(chan string, 10000), make(chan error, 1), cancel}
	go func() {
		s.done <- a.Watch(ctx, func(n approval.Notice) {
			text := n.Request.ID + " asked"
			if n.Decision != nil {
				text = fmt.Sprintf("%s %q by %s", n.Request.ID, n.Decision.Option, n.Decision.DecidedBy)
			}
			s.notices <- text
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-s.done; err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	return s
}

func (s *sight) want(texts ...string) {
	s.t.Helper()
	for _, want := range texts {
		select {
		case got := <-s.notices:
			if got != want {
				s.t.Errorf("notice %q; want %q", got, want)
			}
		case err := <-s.done:
			s.done <- nil
			s.t.Fatalf("watch ended with %v; want %q", err, want)
		case <-time.After(patience):
			s.t.Fatalf("no notice; want %q", want)
		}
	}
}

func TestWatchTellsOfEachQuestionOnce(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	d.ask("q1", false)
	s := watch(t, a)
	s.want("q1 asked")
	d.ask("q2", true)
	s.want("q2 asked")
	d.mu.Lock()
	again := d.records["q1"].Request.Append(nil)
	d.mu.Unlock()
	_ = d.bus.Publish("hooks.event.approval.required", nil, again)
	if _, err := a.Answer(t.Context(), "q1", approval.Answer{Option: "Deny"}); err != nil {
		t.Fatal(err)
	}
	s.want(`q1 "Deny" by ada`)
	_ = d.bus.Publish("hooks.event.approval.required", nil, again)
	d.decide("q1", approval.Decision{Option: "Deny", DecidedBy: "again"}, true)
	d.decide("q2", approval.Decision{DecidedBy: "timeout", TimedOut: true}, true)
	s.want(`q2 "" by timeout`)
}

func TestWatchListsWhereANoticeTellsNothing(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	s := watch(t, a)
	for _, body := range []string{"{}", "[", `{"id":7}`} {
		d.ask("q"+body, false)
		_ = d.bus.Publish("hooks.event.approval.required", nil, []byte(body))
		s.want("q" + body + " asked")
	}
}

// TestWatchBelievesTheRoutersOnly publishes what an agent may publish too: notices of a
// request that is open, as decided, and of one that there is not.
func TestWatchBelievesTheRoutersOnly(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	d.ask("q1", false)
	s := watch(t, a)
	s.want("q1 asked")
	forged := approval.Record{Request: approval.Request{ID: "q1"}, Decision: &approval.Decision{Option: "Allow once", DecidedBy: "nobody"}}
	for _, subject := range []string{"granted", "denied", "required"} {
		for _, id := range []string{"q1", "q9"} {
			forged.ID = id
			body, err := json.Marshal(forged)
			if err != nil {
				t.Fatal(err)
			}
			_ = d.bus.Publish("hooks.event.approval."+subject, nil, body)
		}
	}
	d.ask("q2", true)
	s.want("q2 asked")
	d.decide("q1", approval.Decision{Option: "Deny", DecidedBy: "ada"}, true)
	s.want(`q1 "Deny" by ada`)
}

func TestWatchMakesGoodWhatItMissed(t *testing.T) {
	natstest.Bubble(t, makesGood) // a second passes before it asks again
}

func makesGood(t *testing.T) {
	server := natstest.Server(t)
	d := serviceOn(t, natstest.Conn(t, server))
	nc := natstest.Conn(t, server)
	d.ask("q1", false)
	d.ask("q2", false)
	s := watch(t, connect(t, hookrouter.Options{Conn: nc}))
	s.want("q1 asked", "q2 asked")
	// What happens while the connection is away is never published to it.
	d.decide("q1", approval.Decision{Option: "Allow once", Granted: true, DecidedBy: "bob"}, false)
	d.ask("q3", false)
	d.fail(wire.Errorf(wire.Malformed, "not yet")) // the list is asked for again
	if err := nc.ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	s.want(`q1 "Allow once" by bob`, "q3 asked")
}

func TestWatchGoesOnWhereAListIsCut(t *testing.T) {
	d, a := start(t, hookrouter.Options{})
	d.fit = 2
	for _, id := range []string{"q1", "q2", "q3"} {
		d.ask(id, false)
	}
	s := watch(t, a)
	s.want("q1 asked", "q2 asked")
	d.decide("q1", approval.Decision{Option: "Deny", DecidedBy: "bob"}, true)
	d.decide("q2", approval.Decision{Option: "Deny", DecidedBy: "bob"}, true)
	s.want(`q1 "Deny" by bob`, `q2 "Deny" by bob`, "q3 asked")
}

func TestWatchKeepsUpWithASlowReader(t *testing.T) {
	s := natstest.Server(t)
	watching := natstest.Conn(t, s)
	d, a := serviceOn(t, natstest.Conn(t, s)), connect(t, hookrouter.Options{Conn: watching})
	const many = 3000 // more than wait for a reader
	entered, release := make(chan struct{}), make(chan struct{})
	seen := map[string]bool{}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done := make(chan error, 1)
	d.ask("first", false)
	go func() {
		done <- a.Watch(ctx, func(n approval.Notice) {
			if seen[n.Request.ID] {
				t.Errorf("%s was told twice", n.Request.ID)
			}
			seen[n.Request.ID] = true
			if n.Request.ID == "first" {
				close(entered)
				<-release
			}
			if len(seen) == many+1 {
				cancel()
			}
		})
	}()
	<-entered
	for i := range many {
		d.ask(fmt.Sprintf("q%d", i), true)
	}
	for _, nc := range []*nats.Conn{d.bus.Conn(), watching} { // everything has reached the watcher's connection
		if err := nc.FlushTimeout(patience); err != nil {
			t.Fatal(err)
		}
	}
	close(release)
	if err := <-done; err != nil || len(seen) != many+1 {
		t.Errorf("%v; told of %d of %d approval requests", err, len(seen), many+1)
	}
}

func TestWatchNeedsARouterAtTheStart(t *testing.T) {
	nobody := connect(t, hookrouter.Options{Conn: natstest.Conn(t, natstest.Server(t)), Patience: -1})
	if err := nobody.Watch(t.Context(), func(approval.Notice) {}); err == nil {
		t.Error("watching nothing; want an error")
	}
}
