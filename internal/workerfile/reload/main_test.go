package reload_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for something that must happen.
const patience = 20 * time.Second

// sayings is the kind of hooks in these tests, and records what happened to them.
type sayings struct {
	built, started, closed sync.Map // counts by text, as *atomic.Int32
	inside                 chan string
	goOn                   chan struct{}
}

func count(of *sync.Map, text string) *atomic.Int32 {
	n, _ := of.LoadOrStore(text, &atomic.Int32{})
	return n.(*atomic.Int32)
}

// say is the section of a hook. The hook denies with the text, once it may continue if it waits,
// and fails for events whose member wants differs.
type say struct {
	Text     string   `json:"text"`
	Wait     bool     `json:"wait"`
	Fails    string   `json:"fails"`
	Channels []string `json:"channels"`
}

func (s *sayings) build(_ kind.Section, c say) (kind.Hook, error) {
	count(&s.built, c.Text).Add(1)
	h := kind.Hook{
		Start: func() { count(&s.started, c.Text).Add(1) },
		Close: func() { count(&s.closed, c.Text).Add(1) },
	}
	h.Handler = func(_ context.Context, ev events.Event) (chain.Result, error) {
		if c.Wait {
			s.inside <- c.Text
			<-s.goOn
		}
		data, err := events.ParseObject(ev.Data)
		if err != nil {
			return chain.Result{}, err
		}
		if wants, _ := data.GetString("wants"); c.Fails != "" && wants == c.Fails {
			return chain.Result{}, fmt.Errorf("%s was called for %q", c.Text, wants)
		}
		return chain.Denial(c.Text), nil
	}
	for _, channel := range c.Channels {
		if h.Contributors == nil {
			h.Contributors = map[string]kind.Contributor{}
		}
		h.Contributors[channel] = func(context.Context, string) (any, error) { return c.Text, nil }
	}
	return h, nil
}

// read parses the text of a worker file.
func (s *sayings) read(t *testing.T, text string) *workerfile.File {
	t.Helper()
	f, err := workerfile.Parse("worker.yaml", []byte(text), workerfile.Options{Kinds: map[string]kind.Kind{"say": kind.Of("", s.build)}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// closes waits until hooks with a text have been closed n times.
func (s *sayings) closes(t *testing.T, text string, n int32) {
	t.Helper()
	eventually(t, fmt.Sprintf("%q was closed %d times", text, n), func() bool { return count(&s.closed, text).Load() == n })
}

// home is a bus with a set.
type home struct {
	*sayings
	*reload.Set
	worker *worker.Worker
	agent  *agent.Agent
	other  *worker.Worker // belongs to somebody else
	nats   *nats.Conn
	log    *logged
}

type logged struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newHome(t *testing.T, o reload.Options) *home {
	t.Helper()
	s := natstest.Server(t)
	routertest.Start(t, s, router.Options{})
	h := &home{sayings: &sayings{inside: make(chan string), goOn: make(chan struct{})}, log: &logged{}, nats: natstest.Conn(t, s)}
	for _, w := range []**worker.Worker{&h.worker, &h.other} {
		var err error
		if *w, err = worker.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), worker.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := agent.New(natstest.Client(t, hookrouter.Options{Conn: natstest.Conn(t, s)}), agent.Options{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	h.agent = a
	o.Log = slog.New(slog.NewTextHandler(h.log, nil))
	h.Set = reload.New(h.worker, o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, w := range []*worker.Worker{h.worker, h.other} {
			if err := w.Close(ctx); err != nil {
				t.Errorf("close a worker: %v", err)
			}
		}
		h.Close()
		h.built.Range(func(text, n any) bool {
			h.closes(t, text.(string), n.(*atomic.Int32).Load())
			return true
		})
	})
	return h
}

// apply applies a file, and returns the changes as text.
func (h *home) apply(t *testing.T, text string) string {
	t.Helper()
	changes, err := h.Apply(t.Context(), h.read(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return changes.String()
}

func (h *home) emit(t *testing.T, event, data string) agent.Answer {
	t.Helper()
	answer, err := h.agent.Emit(t.Context(), event, json.RawMessage(data))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// listing returns the registrations by id.
func (h *home) listing(t *testing.T) map[string]agent.Listing {
	t.Helper()
	list, err := h.agent.Registry(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]agent.Listing{}
	for _, l := range list {
		byID[l.ID] = l
	}
	return byID
}

// eventually polls every few milliseconds until a condition holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			t.Errorf("not within %s: %s", patience, what)
			return
		}
	}
}
