package registry_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/pinned"
	"github.com/hookrouter/hookrouter/internal/registry"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// restorable is a NATS server whose store can go back to what it was at the start.
type restorable struct {
	*cut
	dir, backup string
}

func newRestorable(t *testing.T) *restorable {
	t.Helper()
	r := &restorable{&cut{}, natstest.StoreDir(t), t.TempDir()}
	r.start(t)
	conn, err := natsx.Connect(natsx.Options{InProcess: r})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.OpenBucket(t.Context(), registry.Bucket(conn.Bucket(), 1)); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	r.Stop()
	if err := os.CopyFS(r.backup, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	return r
}

func (r *restorable) start(t *testing.T) {
	t.Helper()
	s, err := embedded.Start(embedded.Options{StoreDir: r.dir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	r.Server = s
}

// away stops the server and its connections.
func (r *restorable) away() {
	r.set(true)
	r.Stop()
}

// restored starts the server with its first store.
func (r *restorable) restored(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(r.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(r.dir, os.DirFS(r.backup)); err != nil {
		t.Fatal(err)
	}
	r.start(t)
	r.set(false)
}

// stale is a log that counts how often a replica could not follow.
type stale struct {
	slog.Handler
	times chan struct{}
}

func (stale) Enabled(context.Context, slog.Level) bool { return true }

func (s stale) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "hook table stale") {
		s.times <- struct{}{}
	}
	return nil
}

// A replica misses a guard or a pin that an older store lacks, however often it tried in vain to
// follow while NATS was away.
func TestAReplicaMissesWhatAnOlderStoreLacks(t *testing.T) {
	for want, write := range map[string]func(*testing.T, *registry.Registry) error{
		`"guard" is no longer in the bucket`: func(t *testing.T, r *registry.Registry) error {
			guard := hook("guard", "i")
			guard.OnFailure = chain.FailClosed
			_, err := r.Register(t.Context(), "", guard)
			return err
		},
		`"guard" was pinned, but its order is no longer in the bucket`: func(t *testing.T, r *registry.Registry) error {
			return r.Pin(t.Context(), pinned.Order{Guard: pinned.Guard{ID: "guard", Events: []string{"tool:pre"}}})
		},
	} {
		t.Run(want, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				line := newRestorable(t)
				tried := make(chan struct{}, 1000)
				r := replica(t, line, registry.Options{Replica: "r", Lease: 300 * time.Millisecond, Log: slog.New(stale{slog.DiscardHandler, tried})})
				if err := write(t, r); err != nil {
					t.Fatal(err)
				}
				line.away()
				<-tried // lost the lease
				<-tried // tried to follow in vain
				line.restored(t)
				if err := r.WaitCurrent(testkit.Within(t, testkit.Patience)); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Table(); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want %q", err, want)
				}
			})
		})
	}
}

// A loss that was accepted while a replica was away is accepted for that replica too.
func TestAnAcceptedLossIsNotFoundAgain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		server := natstest.Server(t)
		line := &cut{Server: server}
		tried := make(chan struct{}, 1000)
		away := replica(t, line, registry.Options{Replica: "away", Lease: 300 * time.Millisecond, Log: slog.New(stale{slog.DiscardHandler, tried})})
		here := replica(t, server, registry.Options{Replica: "here", Lease: 300 * time.Millisecond})
		for _, id := range []string{"first", "second"} {
			guard := hook(id, "i")
			guard.OnFailure = chain.FailClosed
			register(t, here, guard)
		}
		line.set(true)
		<-tried
		conn := natstest.Connect(t, natsx.Options{InProcess: server})
		bucket, err := conn.OpenBucket(t.Context(), registry.Bucket(conn.Bucket(), 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, listed := range here.List() {
			if err := bucket.Remove(t.Context(), "hook."+listed.ID, listed.Revision); err != nil {
				t.Fatal(err)
			}
		}
		testkit.Eventually(t, "the loss is accepted", func() bool {
			accepted, err := here.Accept(t.Context(), "ann")
			return accepted && err == nil
		})
		line.set(false)
		if err := away.WaitCurrent(testkit.Within(t, testkit.Patience)); err != nil {
			t.Fatal(err)
		}
		if err := away.Ready(); err != nil {
			t.Errorf("after the operator accepted the loss: %v", err)
		}
	})
}

// A store that is older than what a replica has read lacks labels, though no hook is missing. Once
// that is accepted, all replicas know the same.
func TestAReplicaNoticesAnOlderStore(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		line := newRestorable(t)
		tried := make(chan struct{}, 1000)
		r := replica(t, line, registry.Options{Replica: "r", Lease: 300 * time.Millisecond, Log: slog.New(stale{slog.DiscardHandler, tried})})
		for n := range 100 { // far more records than what the replica writes after the restore
			if _, err := r.AddLabels(t.Context(), "s1", map[string]string{fmt.Sprint("l", n%50): "h"}); err != nil {
				t.Fatal(err)
			}
			if _, err := r.AskToRemove(t.Context(), "s1", []string{fmt.Sprint("l", n%50)}); err != nil {
				t.Fatal(err)
			}
		}
		line.away()
		<-tried
		line.restored(t)
		if err := r.WaitCurrent(testkit.Within(t, testkit.Patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Table(); err == nil || !strings.Contains(err.Error(), "this router has read revision") {
			t.Errorf("with an older store the table is there, %v", err)
		}
		testkit.Eventually(t, "the loss is accepted", func() bool {
			accepted, err := r.Accept(t.Context(), "ann")
			return accepted && err == nil
		})
		other := replica(t, line, registry.Options{Replica: "other", Lease: 300 * time.Millisecond})
		for _, one := range []*registry.Registry{r, other} {
			testkit.Eventually(t, "it is ready", func() bool { return one.Ready() == nil })
		}
		if _, err := other.AddLabels(t.Context(), "s1", map[string]string{"new": "h"}); err != nil {
			t.Fatal(err)
		}
		if known, err := r.Labels("s1"); !slices.Equal(known, []string{"new"}) || err != nil {
			t.Errorf("it knows the labels %v, %v; want those of the store", known, err)
		}
	})
}
