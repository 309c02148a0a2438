package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// A router is ready fast, and small when idle. This prints the figures, and fails only far
// above them: other programs run on this machine too.
func TestARouterIsReadyFastAndSmallWhenIdle(t *testing.T) {
	t.Setenv("GOGC", "") // the memory is that of a router as it is
	program := testkit.Program(t, "hook-router")
	const readyWithin, idleBelow, slack = 300 * time.Millisecond, 60 << 10, 3
	r := startRouter(t, program, natstest.StoreDir(t), "127.0.0.1:0", "")
	if testkit.CurrentTier(t) > testkit.Smoke {
		<-time.After(time.Second) // until it is idle; before that it holds no less
	}
	resident := r.Resident(t)
	t.Logf("ready after %d ms (by itself: %s); idle: %.1f MB resident", r.Startup().Milliseconds(), r.claim, float64(resident)/1024)
	if r.Startup() > slack*readyWithin {
		t.Errorf("ready after %v", r.Startup())
	}
	if resident > slack*idleBelow {
		t.Errorf("%d KB are resident when idle", resident)
	}
	if err := r.End(t, syscall.SIGTERM); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestARouterEndsUnderLoadWithItsOwnNATS(t *testing.T) {
	t.Parallel()
	drained(t, false)
}

func TestARouterEndsUnderLoadOnAnothersNATS(t *testing.T) {
	t.Parallel()
	drained(t, true)
}

// drained ends a router with SIGTERM while sixteen agents emit. What a hook was
// called for is answered; nothing is waited for in vain.
func drained(t *testing.T, joins bool) {
	t.Helper()
	ctx := testkit.Within(t, 60*time.Second)
	url := ""
	if joins {
		url = natstest.Listening(t).ClientURL()
	}
	r := startRouter(t, testkit.Program(t, "hook-router"), natstest.StoreDir(t), "127.0.0.1:0", url)
	var answering sync.WaitGroup
	defer answering.Wait()
	var called sync.Map // the events that a hook was called for
	hook(t, ctx, r.conn(t), "slow", `{"events":["e"],"timeout_ms":5000}`, func(m *nats.Msg) []byte {
		key, _, _ := strings.Cut(string(m.Data), ",")
		called.Store(key, true)
		answering.Go(func() {
			<-time.After(2 * time.Millisecond) // so that there is always something under way
			_ = m.Respond([]byte(`{}`))
		})
		return nil
	})
	var answered, refused, cut atomic.Int64
	var done sync.Map
	var wg sync.WaitGroup
	for i := range 16 {
		nc, gone := r.conn(t), make(chan struct{})
		nc.SetClosedHandler(func(*nats.Conn) { close(gone) })
		// A channel keeps what came before the connection was closed; a request would not.
		inbox, replies := nats.NewInbox(), make(chan *nats.Msg, 1)
		if _, err := nc.ChanSubscribe(inbox, replies); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf(`{"n":"%d-%d"`, i, n)
				err := nc.PublishRequest("hooks.emit.e", inbox, []byte(key+`,"x":1}`))
				m := reply(ctx, replies, gone)
				switch {
				case m != nil && code(m) == "" && m.Header.Get("Hook-Count") == "1":
					answered.Add(1)
					done.Store(key, true)
					continue
				case m != nil && m.Header.Get("Status") == "503":
					refused.Add(1)
				case !joins && m == nil && nc.IsClosed():
					cut.Add(1) // its server is gone: the router did not take it, see below
				default:
					t.Errorf("a request ended with %v %v", err, m)
				}
				return
			}
		})
	}
	enough := int64(testkit.Volume(t, 100, 1000, 10_000))
	testkit.Until(t, ctx, "the load runs", func() bool { return answered.Load() >= enough })
	if err := r.End(t, syscall.SIGTERM); err != nil {
		t.Errorf("the exit code is not 0: %v", err)
	}
	wg.Wait()
	called.Range(func(key, _ any) bool {
		if _, ok := done.Load(key); !ok {
			t.Errorf("the hook was called for %v}, and its agent was not answered", key)
		}
		return true
	})
	t.Logf("%d answered, %d told that there are no responders, %d cut off untaken", answered.Load(), refused.Load(), cut.Load())
}

// reply is the next reply to an agent; nil where none comes within 10 s, or before the
// connection is gone.
func reply(ctx context.Context, replies <-chan *nats.Msg, gone <-chan struct{}) *nats.Msg {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	select {
	case m := <-replies:
		return m
	case <-gone:
	case <-ctx.Done():
	}
	select {
	case m := <-replies:
		return m
	default:
		return nil
	}
}

// A router is told to end while a hook has time left, and then again: it does not wait for the
// hook any more.
func TestARouterIsToldTwiceToEnd(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, 60*time.Second)
	r := startRouter(t, testkit.Program(t, "hook-router"), natstest.StoreDir(t), "127.0.0.1:0", "")
	nc := r.conn(t)
	called := make(chan struct{}, 1)
	hook(t, ctx, nc, "silent", `{"events":["e"],"timeout_ms":25000}`, func(*nats.Msg) []byte {
		called <- struct{}{}
		return nil
	})
	if err := nc.PublishRequest("hooks.emit.e", nats.NewInbox(), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	<-called
	_ = r.Cmd.Process.Signal(syscall.SIGTERM)
	testkit.Until(t, ctx, "the router takes nothing more", func() bool {
		_, err := nc.RequestWithContext(ctx, "hooks.emit.other", []byte(`{}`))
		return errors.Is(err, nats.ErrNoResponders)
	})
	began := time.Now()
	if err := r.End(t, syscall.SIGTERM); err == nil || !strings.HasPrefix(err.Error(), "signal: terminated") || time.Since(began) > 10*time.Second {
		t.Errorf("it ended with %v, after %v", err, time.Since(began))
	}
}

// A router that has its own store is killed, twice: on the same store the guard is there at
// once; on an empty one the worker comes back by itself.
func TestARouterIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	program := testkit.Program(t, "hook-router")
	ctx := testkit.Within(t, 60*time.Second)
	store, addr := natstest.StoreDir(t), testkit.FreeAddrs(t, 1)[0]
	r := startRouter(t, program, store, addr, "")
	if m := request(t, ctx, r.conn(t), "hooks.register.guard", nil, `{"events":["tool:pre"],"on_failure":"deny"}`); code(m) != "" {
		t.Fatal(m.Header)
	}
	own := natstest.Dial(t, r.url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	w := newWorker(t, own, worker.Options{})
	var calls atomic.Int64
	register(t, ctx, w, worker.Registration{ID: "mine", Events: []string{"e"}}, func(context.Context, worker.Event) (worker.Result, error) {
		calls.Add(1)
		return worker.Result{}, nil
	})
	for round := range testkit.Volume(t, 1, 2, 20) {
		_ = r.End(t, syscall.SIGKILL)
		r = startRouter(t, program, store, addr, "")
		nc := r.conn(t)
		m := request(t, ctx, nc, "hooks.emit.tool.pre", nil, `{}`)
		if m.Header.Get("Hook-Denied-By") != "guard" || !strings.Contains(string(m.Data), "no_responder") {
			t.Fatalf("round %d: after a restart the gate is open: %v %s", round, m.Header, m.Data)
		}
		began := time.Now() // the worker connects again, and renews
		testkit.Until(t, ctx, "the worker answers again", func() bool {
			m := request(t, ctx, nc, "hooks.emit.e", nil, `{}`)
			return m.Header.Get("Hook-Count") == "1"
		})
		t.Logf("ready %v after the start, the worker back %v later", r.Startup(), time.Since(began))
	}
	_ = r.End(t, syscall.SIGKILL)
	before := calls.Load()
	r = startRouter(t, program, natstest.StoreDir(t), addr, "")
	nc := r.conn(t)
	testkit.Until(t, ctx, "the worker registers with a router that does not know it", func() bool {
		return request(t, ctx, nc, "hooks.emit.e", nil, `{}`).Header.Get("Hook-Count") == "1"
	})
	if calls.Load() == before {
		t.Error("the worker was not called")
	}
	if err := w.Close(ctx); err != nil { // while there is a router to tell
		t.Error(err)
	}
}
