package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/hookstate/bucket"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for watches
	goleak.VerifyTestMain(m)
}

// open makes a store on a server, as one process of several would.
func open(t *testing.T, s *embedded.Server) *bucket.Store {
	t.Helper()
	b := bucket.New(func() (*natsx.Conn, error) { return natsx.Connect(natsx.Options{InProcess: s}) })
	t.Cleanup(b.Close)
	return b
}

// stream looks at what the server keeps of the states.
func stream(t *testing.T, s *embedded.Server) *jetstream.StreamInfo {
	t.Helper()
	js, err := jetstream.New(natstest.Conn(t, s))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "KV_hooks_hookstate")
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func add(old []byte) ([]byte, error) { return append(old, 'x'), nil }

func TestTwoStoresLoseNoUpdate(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	stores := []*bucket.Store{open(t, s), open(t, s)}
	const each = 100
	var all sync.WaitGroup
	for _, store := range stores {
		for range each {
			all.Go(func() {
				if err := store.Update(t.Context(), "limits.s1", add); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	for i, store := range stores {
		if value, err := store.Get(t.Context(), "limits.s1"); err != nil || len(value) != 2*each {
			t.Errorf("store %d has %d updates, %v; want %d", i, len(value), err, 2*each)
		}
	}
}

func TestAnUpdateThatIsNotWaitedForIsNotCalled(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	inside, leave := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		if err := store.Update(t.Context(), "a.1", func([]byte) ([]byte, error) {
			close(inside)
			<-leave
			return []byte("first"), nil
		}); err != nil {
			t.Error(err)
		}
	})
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	all.Go(func() {
		called := false
		if err := store.Update(ctx, "a.1", func([]byte) ([]byte, error) { called = true; return []byte("late"), nil }); !errors.Is(err, context.Canceled) || called {
			t.Errorf("Update = %v, called: %t", err, called)
		}
		close(leave)
	})
	cancel()
	all.Wait()
	if value, err := store.Get(t.Context(), "a.1"); err != nil || string(value) != "first" {
		t.Errorf("Get = %q, %v", value, err)
	}
}

func TestWhatOneStoreWroteTheOtherReads(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	one, other := open(t, s), open(t, s)
	for n := 1; n <= 50; n++ {
		if err := one.Update(t.Context(), "a.b", add); err != nil {
			t.Fatal(err)
		}
		if value, err := other.Get(t.Context(), "a.b"); err != nil || len(value) != n {
			t.Fatalf("after %d updates the other store reads %d, %v", n, len(value), err)
		}
	}
}

func TestBucketKeepsWhatItIsTold(t *testing.T) {
	t.Parallel()
	store := open(t, natstest.Server(t))
	for _, key := range []string{"a.1", "a.2", "ab.1"} {
		if err := store.Update(t.Context(), key, add); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	if err := store.Update(t.Context(), "a.1", func([]byte) ([]byte, error) { return []byte("lost"), broken }); !errors.Is(err, broken) {
		t.Errorf("Update = %v; want the error of the change", err)
	}
	if err := store.Update(t.Context(), "a.1", func([]byte) ([]byte, error) { return nil, hookstate.ErrUnchanged }); err != nil {
		t.Errorf("Update = %v; want none", err)
	}
	big := func([]byte) ([]byte, error) { return make([]byte, hookstate.MaxValue+1), nil }
	if err := store.Update(t.Context(), "a.1", big); err == nil || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("Update = %v; want that the value is too big", err)
	}
	forget := func([]byte) ([]byte, error) { return nil, nil }
	for _, key := range []string{"a.2", "a.3"} {
		if err := store.Update(t.Context(), key, forget); err != nil {
			t.Fatal(err)
		}
	}
	if value, err := store.Get(t.Context(), "a.2"); err != nil || value != nil {
		t.Errorf("what was removed is %q, %v", value, err)
	}
	if err := store.Update(t.Context(), "a.4", add); err != nil {
		t.Fatal(err)
	}
	if got := under(t, store, "a"); !slices.Equal(got, []string{"a.1x", "a.4x"}) {
		t.Errorf("under a: %q", got)
	}
	if err := store.Update(t.Context(), "a.2", add); err != nil {
		t.Errorf("what was removed can't be written anew: %v", err)
	}
}

func under(t *testing.T, store hookstate.Store, prefix string) (got []string) {
	t.Helper()
	if err := store.Under(t.Context(), prefix, func(key string, value []byte) bool {
		got = append(got, key+string(value))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got
}

func TestSessionsThatNeverEndAreForgotten(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	if err := open(t, s).Update(t.Context(), "a.1", add); err != nil {
		t.Fatal(err)
	}
	if info := stream(t, s); info.Config.MaxAge != 24*time.Hour || info.Config.AllowDirect {
		t.Errorf("values are kept for %v, read from replicas that lag: %t", info.Config.MaxAge, info.Config.AllowDirect)
	}
}

func TestTheBucketIsOpenedWhenItIsUsed(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := natstest.Server(t)
	store := bucket.New(func() (*natsx.Conn, error) {
		if calls.Add(1) == 1 {
			return nil, errors.New("not yet")
		}
		return natsx.Connect(natsx.Options{InProcess: s})
	})
	defer store.Close()
	if calls.Load() != 0 {
		t.Error("it connects before it is used")
	}
	if _, err := store.Get(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("Get = %v; want why it can't connect", err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := store.Update(t.Context(), "a", add); err != nil {
				t.Error(err)
			}
		})
	}
	if all.Wait(); calls.Load() != 2 {
		t.Errorf("it connected %d times; want once more", calls.Load()-1)
	}
}

func TestAnUnreachableStoreIsAnErrorInTime(t *testing.T) {
	t.Parallel()
	for name, unavailable := range map[string]func(*embedded.Server){
		"the server ended":   (*embedded.Server).Stop,
		"nothing is stored":  func(s *embedded.Server) { _ = s.DisableJetStream() },
		"it was away before": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Server(t)
			store := open(t, s)
			if unavailable == nil {
				s.Stop()
			} else {
				if err := store.Update(t.Context(), "a.1", add); err != nil {
					t.Fatal(err)
				}
				unavailable(s)
			}
			store.SetTimeout(50 * time.Millisecond)
			for what, do := range map[string]func(context.Context) error{
				"Get":    func(ctx context.Context) error { _, err := store.Get(ctx, "a.1"); return err },
				"Update": func(ctx context.Context) error { return store.Update(ctx, "a.1", add) },
				"Under": func(ctx context.Context) error {
					return store.Under(ctx, "a", func(string, []byte) bool { return true })
				},
			} {
				began := time.Now()
				err := do(t.Context())
				if took := time.Since(began); err == nil || took > 2*time.Second {
					t.Errorf("%s = %v after %v", what, err, took)
				}
			}
		})
	}
}

// TestNothingIsLeftOfSessionsThatEnded has many sessions come and go. What a few of them left
// on the heap would not show there: only larger tiers look, with nothing beside them.
func TestNothingIsLeftOfSessionsThatEnded(t *testing.T) {
	if testkit.CurrentTier(t) == testkit.Smoke {
		natstest.Bubble(t, sessionsEnd) // what was removed is forgotten after a second
		return
	}
	sessionsEnd(t)
}

func sessionsEnd(t *testing.T) {
	t.Helper()
	s := natstest.Server(t)
	store := hookstate.Of[int](open(t, s), "reads.monitor")
	sessions := testkit.Volume(t, 500, 2000, 100_000)
	live := func(from, to int) {
		const clients = 16
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() {
				for i := from + c; i < to; i += clients {
					session := fmt.Sprintf("session %d", i)
					if err := store.Update(t.Context(), session, func(n *int) bool { *n++; return true }); err != nil {
						t.Error(err)
					}
					if err := store.Forget(t.Context(), session); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	empty := func() bool {
		state := stream(t, s).State
		t.Logf("%d messages are left", state.Msgs)
		return state.Msgs == 0
	}
	live(0, sessions/10)
	before := heap()
	live(sessions/10, sessions)
	testkit.Eventually(t, "the bucket is empty", empty)
	if testkit.CurrentTier(t) == testkit.Smoke {
		return
	}
	after := heap()
	t.Logf("heap: %d KiB after the first tenth, %d KiB after all", before>>10, after>>10)
	if after > before+before/2+8<<20 {
		t.Errorf("the heap grew from %d to %d KiB", before>>10, after>>10)
	}
}
