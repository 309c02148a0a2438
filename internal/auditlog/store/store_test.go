package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/auditlog/store"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server starts a NATS server.
func server(t *testing.T) *embedded.Server {
	t.Helper()
	return natstest.Server(t)
}

// connect connects as one process.
func connect(t *testing.T, s *embedded.Server) *natsx.Conn {
	t.Helper()
	return natstest.Connect(t, natsx.Options{InProcess: s})
}

// open opens the log as a router does.
func open(t *testing.T, s *embedded.Server) *store.Log {
	t.Helper()
	log, err := store.Open(t.Context(), connect(t, s), 0)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func names(t *testing.T, log *store.Log) (list []string) {
	t.Helper()
	segments, err := log.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments {
		list = append(list, s.Name())
	}
	return list
}

// decide decides an approval request, and reports whether this decision is the one.
func decide(ctx context.Context, log *store.Log, number int, id, by string) (won bool, err error) {
	err = log.Decide(ctx, number, id, []byte(by))
	if errors.Is(err, natsx.ErrRevision) {
		return false, nil
	}
	return err == nil, err
}

// TestOneDecisionAcrossSegments: processes race to decide the same approval requests, which
// were asked in several segments, while an operator closes one segment after the other.
// Each approval request has one decision, and everybody reads the same.
func TestOneDecisionAcrossSegments(t *testing.T) {
	t.Parallel()
	const deciders, questions, rotations = 5, 60, 5
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := server(t)
	operator := open(t, s)
	logs := make([]*store.Log, deciders)
	for i := range logs {
		logs[i] = open(t, s)
	}

	var mu sync.Mutex // guards what follows
	winners := map[string][]string{}
	asked := map[string]int{}      // in which segment
	spread := map[int]int{}        // approval requests by the segment that was live when they were decided
	decided := make(chan struct{}) // one for each approval request, by whoever wins
	var wg sync.WaitGroup
	for q := range questions {
		id := fmt.Sprintf("q%03d", q)
		asked[id] = 1
	}
	for i, log := range logs {
		wg.Go(func() {
			for q := range questions {
				q = (q + i*questions/deciders/4) % questions // close to each other, in another order
				id, by := fmt.Sprintf("q%03d", q), fmt.Sprintf("decider-%d", i)
				won, err := decide(ctx, log, 1, id, by)
				if err != nil {
					t.Errorf("%s decides %s: %v", by, id, err)
					return
				}
				if won {
					mu.Lock()
					winners[id] = append(winners[id], by)
					spread[log.Live().Number]++
					mu.Unlock()
					decided <- struct{}{}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	count, sealed := 0, 0
	var closing sync.WaitGroup // the segment that is being closed, while approval requests are decided
	for running := true; running; {
		select {
		case <-decided:
			if count++; sealed < rotations && count%(questions/(rotations+1)) == 0 {
				closing.Wait()
				sealed++
				closing.Go(func() {
					if _, err := operator.Seal(ctx); err != nil {
						t.Errorf("close a segment: %v", err)
					}
				})
			}
		case <-done:
			running = false
		}
	}
	closing.Wait()
	if sealed != rotations || len(spread) < 3 {
		t.Fatalf("%d segments were closed, and decisions fell while %v were live: the test is too weak", sealed, spread)
	}
	reader := open(t, s)
	for id := range asked {
		if len(winners[id]) != 1 {
			t.Errorf("%s was decided by %v; want one", id, winners[id])
			continue
		}
		for i, log := range append(logs, operator, reader) {
			_, rec, err := log.Decision(ctx, asked[id], id)
			if err != nil || string(rec.Body) != winners[id][0] {
				t.Errorf("%s: reader %d reads %q, %v; want %q", id, i, rec.Body, err, winners[id][0])
			}
		}
	}
	if n := decisions(t, ctx, reader); n != questions {
		t.Errorf("the segments hold %d decisions; want %d", n, questions)
	}
}

// decisions counts those in all segments.
func decisions(t *testing.T, ctx context.Context, log *store.Log) (n int) {
	t.Helper()
	segments, err := log.Segments(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments {
		state, err := log.State(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		n += int(state.Messages)
	}
	return n
}

// TestADecisionOfAnEarlierSegmentHolds: a decider that meets a later segment does not
// decide again what was decided in the one of the approval request.
func TestADecisionOfAnEarlierSegmentHolds(t *testing.T) {
	t.Parallel()
	s := server(t)
	log, other := open(t, s), open(t, s)
	if err := log.Decide(t.Context(), 1, "q", []byte("allow")); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, decider := range map[string]*store.Log{"the one that closed it": log, "one that does not know": other, "a new one": open(t, s)} {
		if err := decider.Decide(t.Context(), 1, "q", []byte("deny")); !errors.Is(err, natsx.ErrRevision) {
			t.Errorf("%s: %v; want that it is decided", name, err)
		}
		if _, rec, err := decider.Decision(t.Context(), 1, "q"); err != nil || string(rec.Body) != "allow" {
			t.Errorf("%s reads %q, %v; want the first decision", name, rec.Body, err)
		}
	}
	if err := other.Decide(t.Context(), 1, "open", []byte("allow")); err != nil {
		t.Errorf("an approval request that was open when its segment was closed: %v", err)
	}
	if _, rec, err := log.Decision(t.Context(), 1, "open"); err != nil || string(rec.Body) != "allow" {
		t.Errorf("it reads %q, %v; want its decision in the next segment", rec.Body, err)
	}
	if _, _, err := log.Decision(t.Context(), 1, "never"); !errors.Is(err, natsx.ErrNoKey) {
		t.Errorf("an approval request that is open: %v; want that it is", err)
	}
}

// TestDecisionsAreFollowedOverSegments: who follows decisions gets each once, in
// whatever segment it stands.
func TestDecisionsAreFollowedOverSegments(t *testing.T) {
	t.Parallel()
	s := server(t)
	log, follower := open(t, s), open(t, s)
	put := func(id string) {
		t.Helper()
		if err := log.Decide(t.Context(), log.Live().Number, id, []byte(id)); err != nil {
			t.Fatal(err)
		}
	}
	rotate := func() {
		t.Helper()
		if _, err := log.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	rotate()
	put("b")
	if err := follower.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen, current, ended := make(chan string, 10), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- follower.FollowDecisions(ctx, time.Time{}, func(_ int, rec natsx.Record) { seen <- string(rec.Body) }, func() { close(current) })
	}()
	<-current
	put("c")
	rotate()
	if err := follower.Refresh(t.Context()); err != nil { // as a writer does that meets the end of a segment
		t.Fatal(err)
	}
	put("d")
	var got []string
	for len(got) < 4 {
		select {
		case id := <-seen:
			got = append(got, id)
		case <-time.After(20 * time.Second):
			t.Fatalf("after 20 s only %v were seen", got)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v; want that it was told to", err)
	}
}

// A segment that is closed while its decisions are read does not hide that all of them were read.
func TestDecisionsAreCurrentThoughTheSegmentChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := server(t)
	log, follower := open(t, s), open(t, s)
	const n = 50
	for i := range n {
		id := fmt.Sprint(i)
		if err := log.Decide(t.Context(), 1, id, []byte(id)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen, current, ended := 0, make(chan int, 1), make(chan error, 1)
	handle := func(int, natsx.Record) {
		if seen++; seen > 1 {
			return
		}
		if _, err := log.Seal(ctx); err != nil {
			t.Error(err)
		}
		if err := follower.Refresh(ctx); err != nil {
			t.Error(err)
		}
	}
	go func() { ended <- follower.FollowDecisions(ctx, time.Time{}, handle, func() { current <- seen }) }()
	select {
	case seen := <-current:
		if seen != n {
			t.Errorf("%d decisions were seen before all current ones; want %d", seen, n)
		}
	case <-time.After(20 * time.Second):
		t.Error("after 20 s it is not current")
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v; want that it was told to", err)
	}
}

func TestSegments(t *testing.T) {
	t.Parallel()
	t.Run("a log that is not there is not made by who reads", func(t *testing.T) {
		t.Parallel()
		b := connect(t, server(t))
		if _, err := store.Attach(t.Context(), b); !errors.Is(err, store.ErrNoLog) {
			t.Errorf("the error is %v; want that there is no log", err)
		}
	})
	t.Run("a closed segment takes nothing, and the next does", func(t *testing.T) {
		t.Parallel()
		s := server(t)
		log, other := open(t, s), open(t, s)
		first := other.Live()
		if _, err := log.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := first.AppendFirst(t.Context(), "hooks.audit.w.x", []byte("x")); !errors.Is(err, natsx.ErrClosed) {
			t.Errorf("the closed segment says %v; want that it is closed", err)
		}
		if err := other.Refresh(t.Context()); err != nil || other.Live().Number != 2 {
			t.Fatalf("segment %d is live, %v; want 2", other.Live().Number, err)
		}
		if diff := cmp.Diff([]string{"HOOKS_AUDIT", "HOOKS_AUDIT_2"}, names(t, other)); diff != "" {
			t.Errorf("segments (-want +got):\n%s", diff)
		}
	})
	t.Run("the next is as large as the operator made the one before", func(t *testing.T) {
		t.Parallel()
		s := server(t)
		log := open(t, s)
		js, err := jetstream.New(connect(t, s).Conn())
		if err != nil {
			t.Fatal(err)
		}
		limit := func(name string) int64 {
			t.Helper()
			stream, err := js.Stream(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			c := stream.CachedInfo().Config
			if name == "HOOKS_AUDIT" {
				c.MaxBytes = 1 << 20
				if _, err := js.UpdateStream(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			return c.MaxBytes
		}
		limit("HOOKS_AUDIT")
		if _, err := log.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := limit("HOOKS_AUDIT_2"); got != 1<<20 {
			t.Errorf("the next holds %d bytes; want 1 MiB", got)
		}
	})
	t.Run("a rotation that was interrupted is gone on with, by a router or the operator", func(t *testing.T) {
		t.Parallel()
		for name, again := range map[string]func(s *embedded.Server) error{
			"router": func(s *embedded.Server) error {
				_, err := store.Open(t.Context(), connect(t, s), 0)
				return err
			},
			"operator": func(s *embedded.Server) error {
				log, err := store.Attach(t.Context(), connect(t, s))
				if err == nil {
					_, err = log.Seal(t.Context())
				}
				return err
			},
		} {
			s := server(t)
			log := open(t, s)
			if err := log.Live().Seal(t.Context(), "hooks.sealed.HOOKS_AUDIT"); err != nil {
				t.Fatal(err)
			}
			if err := again(s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := open(t, s).Live().Name(); got != "HOOKS_AUDIT_2" {
				t.Errorf("%s: %s is live; want the second", name, got)
			}
		}
	})
	t.Run("a number is never used again, though the first segments were removed", func(t *testing.T) {
		t.Parallel()
		s := server(t)
		log := open(t, s)
		for range 2 {
			if _, err := log.Seal(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		b := connect(t, s)
		if err := b.RemoveStream(t.Context(), "HOOKS_AUDIT"); err != nil {
			t.Fatal(err)
		}
		if err := log.Live().Seal(t.Context(), "hooks.sealed.HOOKS_AUDIT_3"); err != nil { // and then the operator's machine died
			t.Fatal(err)
		}
		next := open(t, s)
		if got := next.Live().Name(); got != "HOOKS_AUDIT_4" {
			t.Errorf("%s is live; want the fourth", got)
		}
		if diff := cmp.Diff([]string{"HOOKS_AUDIT_2", "HOOKS_AUDIT_3", "HOOKS_AUDIT_4"}, names(t, next)); diff != "" {
			t.Errorf("segments (-want +got):\n%s", diff)
		}
	})
	t.Run("a stream of somebody else on the subjects", func(t *testing.T) {
		t.Parallel()
		s := server(t)
		b := connect(t, s)
		if _, err := b.CreateStream(t.Context(), "OTHER", []string{"hooks.audit.>"}, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), b, 0); err == nil {
			t.Error("it was taken for the log")
		}
	})
}
