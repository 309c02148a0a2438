package agenthook_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestMain(m *testing.M) {
	testkit.Parallel(8) // they wait for routers that are away
	goleak.VerifyTestMain(m)
}

// bus is a router with one hook, whose handler a test sets.
type bus struct {
	url     string
	handler atomic.Pointer[worker.Handler]
	client  *hookrouter.Client
	stop    func() // stops the router, not NATS
}

func start(t *testing.T) *bus {
	t.Helper()
	s := natstest.Listening(t)
	_, stop := routertest.Start(t, s, router.Options{})
	b := &bus{url: s.ClientURL(), stop: stop}
	b.client = natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)})
	w := natstest.Worker(t, b.client, worker.Options{})
	b.answer(func(context.Context, worker.Event) (worker.Result, error) { return worker.Continue() })
	handler := func(ctx context.Context, ev worker.Event) (worker.Result, error) { return (*b.handler.Load())(ctx, ev) }
	if _, err := w.Register(t.Context(), worker.Registration{ID: "guard", Events: []string{"*"}}, handler); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bus) answer(h worker.Handler) { b.handler.Store(&h) }

// call is a hook of one dialect against a server, and what it noted.
type call struct {
	agenthook.Hook
	notes bytes.Buffer
}

func newCall(t *testing.T, dialect, native, url string) *call {
	t.Helper()
	d, ok := agenthook.Find(dialect)
	if !ok {
		t.Fatalf("there is no dialect %s", dialect)
	}
	c := &call{Hook: agenthook.Hook{Dialect: d, Native: native}}
	c.Options = agenthook.Options{Server: url, Timeout: 20 * time.Second, Patience: time.Millisecond, StateDir: filepath.Join(t.TempDir(), "state")}
	c.Notes = &c.notes
	return c
}

func sample(t *testing.T, dialect, native string) []byte {
	t.Helper()
	document, err := os.ReadFile(filepath.Join("testdata", dialect, native+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// samples are the events of a dialect that there is a document for.
func samples(t *testing.T, dialect string) (natives []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dialect, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples of %s: %v", dialect, err)
	}
	for _, f := range files {
		natives = append(natives, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	return natives
}
