package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookrouter/hookrouter/internal/builtin/all"
	"github.com/hookrouter/hookrouter/internal/hookstate"
	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/builtinhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/celhook"
	"github.com/hookrouter/hookrouter/internal/workerfile/exechook"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

//go:embed hooks.yaml
var hookFile []byte

// hooks are the demo's workers: one for the guard and one for all other hooks,
// each with its own connection.
type hooks struct {
	guard, others *demoWorker
	file          *workerfile.File
	observed      atomic.Int64 // calls of hooks in mode observe

	mu      sync.Mutex          // guards answers
	answers map[string][]answer // by chain
}

// answer is what one hook answered in one chain.
type answer struct {
	hook   string
	result chain.Result
	err    error
}

type demoWorker struct {
	*worker.Worker
	bus  *natsx.Conn
	name string
}

func startHooks(ctx context.Context, n *server.Server, workspace string) (*hooks, error) {
	h := &hooks{answers: map[string][]answer{}}
	var err error
	if h.file, err = load(workspace); err != nil {
		return nil, err
	}
	if h.guard, err = connectWorker(ctx, n, "demo-guard"); err != nil {
		return nil, err
	}
	if h.others, err = connectWorker(ctx, n, "demo-hooks"); err != nil {
		return nil, err
	}
	for _, hook := range h.file.Hooks {
		w := h.others
		if hook.Registration.ID == guardID {
			w = h.guard
		}
		if _, err := w.Register(ctx, hook.Registration, h.recording(hook)); err != nil {
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
	client, err := hookrouter.Connect(ctx, hookrouter.Options{Conn: b.Conn(), Name: name})
	if err != nil {
		b.Close()
		return nil, err
	}
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		b.Close()
		return nil, err
	}
	return &demoWorker{w, b, name}, nil
}

// load builds the hooks of the demo's worker file.
func load(workspace string) (*workerfile.File, error) {
	file, err := workerfile.Parse("hooks.yaml", hookFile, workerfile.Options{
		Worker: kind.Worker{Dir: workspace, States: &hookstate.Memory{}, Log: slog.New(slog.DiscardHandler)},
		Kinds: map[string]kind.Kind{ // without http and rego, since the router does not link OPA
			"builtin": builtinhook.New(all.Builtins()),
			"cel":     kind.Of("Rules.", celhook.Build),
			"exec":    kind.Of("A command.", exechook.Build),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the demo's hooks: %w", err)
	}
	return file, nil
}

// recording returns the hook's handler, wrapped to record its answers for the printer.
func (h *hooks) recording(hook workerfile.Hook) worker.Handler {
	handle := hook.Named()
	return func(ctx context.Context, ev worker.Event) (chain.Result, error) {
		result, err := handle(ctx, ev)
		call := worker.CallFrom(ctx)
		if call.Mode == chain.Observe {
			h.observed.Add(1)
			return result, err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.answers[call.ChainID] = append(h.answers[call.ChainID], answer{hook.Registration.ID, result, err})
		return result, err
	}
}

// of returns the answers of a chain's hooks, in call order.
func (h *hooks) of(chainID string) []answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answers[chainID]
}

// killGuard closes the guard's connection without deregistering, as if its process
// died, and waits until the server has noticed.
func (h *hooks) killGuard(ctx context.Context) error {
	ping := "$SRV.PING." + h.guard.name
	h.guard.bus.Conn().Close()
	for ctx.Err() == nil {
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond) // the reply may be lost with the connection
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
	defer h.file.Close()
	guardErr := h.guard.Close(ctx)
	if h.guard.bus.Conn().IsClosed() {
		guardErr = nil // it was killed
	}
	return errors.Join(err, guardErr)
}
