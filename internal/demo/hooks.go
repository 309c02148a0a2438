package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/examples"
	"github.com/hookrouter/hookrouter/examples/notifier"
	"github.com/hookrouter/hookrouter/examples/sessioncontext"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

//go:embed hooks.yaml
var hookFile []byte

// hooks are the demo's workers: one for the guard, one for all others, each with
// a connection of its own.
type hooks struct {
	guard, others *demoWorker
	count         int
	observed      atomic.Int64 // calls of hooks in mode observe

	mu   sync.Mutex // guards told
	told map[string][]said
}

// said is what one hook answered in one chain.
type said struct {
	hook   string
	result chain.Result
	err    error
}

type demoWorker struct {
	*worker.Worker
	bus *natsx.Conn
}

func startHooks(ctx context.Context, n *server.Server, workspace string) (*hooks, error) {
	h := &hooks{told: map[string][]said{}}
	list, err := demoHooks(workspace)
	if err != nil {
		return nil, err
	}
	h.count = len(list)
	if h.guard, err = connectWorker(ctx, n, "demo-guard"); err != nil {
		return nil, err
	}
	if h.others, err = connectWorker(ctx, n, "demo-hooks"); err != nil {
		return nil, err
	}
	for _, hook := range list {
		w := h.others
		if hook.Registration.ID == guardID {
			w = h.guard
		}
		if _, err := w.Register(ctx, hook.Registration, h.listening(hook)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

func connectWorker(ctx context.Context, n *server.Server, name string) (*demoWorker, error) {
	b, err := natsx.Connect(natsx.Options{Name: name, InProcess: n.InProcess()})
	if err != nil {
		return nil, err
	}
	w, err := worker.Connect(ctx, worker.Options{Conn: b.Conn(), Name: name})
	if err != nil {
		b.Close()
		return nil, err
	}
	return &demoWorker{w, b}, nil
}

// demoHooks are the example hooks and those of the demo's hook file.
func demoHooks(workspace string) ([]examples.Example, error) {
	list := examples.All()
	for i := range list {
		switch list[i].Registration.ID {
		case "session-context":
			list[i].Hook = sessioncontext.Hook(sessioncontext.Options{Load: func(context.Context, int) ([]string, error) {
				return []string{"#12 deploy.sh fails without a build", "#9 docs: the runbook is out of date"}, nil
			}})
		case "notifier": // no pop-ups from a demo
			list[i].Hook = notifier.Hook(notifier.Options{LookPath: func(string) (string, error) { return "", exec.ErrNotFound }})
		case "audit":
			list[i].Hook = func(context.Context, worker.Event) (chain.Result, error) { return chain.Result{}, nil }
		case "session-stats":
			slog.SetDefault(slog.New(slog.DiscardHandler))
		}
	}
	file, err := workerfile.Parse("hooks.yaml", hookFile, workerfile.Options{
		Worker: kind.Worker{Dir: workspace},
		Kinds: map[string]kind.Kind{ // not all that there are: the router links no OPA
			"cel":  kind.Of("Rules.", celhook.Build),
			"exec": kind.Of("A command.", exechook.Build),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the demo's hooks: %w", err)
	}
	for _, hook := range file.Hooks {
		list = append(list, examples.Example{Registration: hook.Registration, Hook: hook.Handler})
	}
	return list, nil
}

// listening is the hook's handler, which also notes what it answers.
func (h *hooks) listening(hook examples.Example) worker.Handler {
	return func(ctx context.Context, ev worker.Event) (chain.Result, error) {
		result, err := hook.Hook(ctx, ev)
		call := worker.CallFrom(ctx)
		if call.Mode == chain.Observe {
			h.observed.Add(1)
			return result, err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.told[call.ChainID] = append(h.told[call.ChainID], said{hook.Registration.ID, result, err})
		return result, err
	}
}

// of returns what the hooks of a chain answered, in the order of the calls.
func (h *hooks) of(chainID string) []said {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told[chainID]
}

// killGuard cuts the guard's connection, with no goodbye, as when its process
// dies, and waits until the server has noticed.
func (h *hooks) killGuard(ctx context.Context) error {
	ping := "$SRV.PING." + h.guard.Name
	h.guard.bus.Conn().Close()
	for ctx.Err() == nil {
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond) // it may get lost with the connection
		_, err := h.others.bus.Request(short, ping, nil, nil)
		cancel()
		if errors.Is(err, natsx.ErrNoResponders) {
			return nil
		}
	}
	return ctx.Err()
}

func (h *hooks) stop(ctx context.Context) error {
	err := h.others.Close(ctx)
	h.others.bus.Close()
	guardErr := h.guard.Close(ctx)
	if h.guard.bus.Conn().IsClosed() {
		guardErr = nil // it was killed
	}
	return errors.Join(err, guardErr)
}
