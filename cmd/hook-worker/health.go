package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/api/web"
	"github.com/hookrouter/hookrouter/internal/bundle/follow"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/telemetry"
)

// maxConnections limits the connections to the pages, since the hooks need the open files of the
// process.
const maxConnections = 64

// health serves /healthz (the process is alive), /readyz (the hooks are registered and NATS is
// connected), /policy and /metrics.
type health struct {
	serving atomic.Bool // whether the hooks are registered and the worker is not stopping
	conn    atomic.Pointer[nats.Conn]
	policy  atomic.Pointer[follow.Follower] // nil if a file is served
	server  *http.Server
	done    chan struct{} // closed when the server has stopped
}

// serveHealth serves the pages on an address until close; an empty address disables them.
func serveHealth(ctx context.Context, address string, tel *telemetry.Telemetry) (*health, error) {
	h := &health{done: make(chan struct{})}
	if address == "" {
		close(h.done)
		return h, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, workerfiles.InputError(fmt.Errorf("serve the health pages: %w", err))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { web.Health(w, "") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { web.Health(w, h.ready()) })
	mux.HandleFunc("GET /policy", h.showPolicy)
	mux.Handle("GET /metrics", tel.Handler())
	h.server = &http.Server{Handler: web.CheckHost(nil, mux), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10}
	(&web.ConnLimiter{Limit: maxConnections}).Attach(h.server)
	go func() {
		defer close(h.done)
		_ = h.server.Serve(listener) // until close
	}()
	return h, nil
}

// ready returns why the worker can't serve its hooks now; empty if it can.
func (h *health) ready() string {
	conn := h.conn.Load()
	switch {
	case conn == nil || !conn.IsConnected():
		return "not connected to NATS"
	case h.serving.Load():
		return ""
	}
	if policy := h.policy.Load(); policy != nil && policy.Status().Policy == "" {
		return "no version of the policy " + policy.Name + " was taken over yet"
	}
	return "the hooks are not registered"
}

// showPolicy serves the versions of the policy that the worker runs, and the refused one.
func (h *health) showPolicy(w http.ResponseWriter, _ *http.Request) {
	policy := h.policy.Load()
	if policy == nil {
		http.Error(w, "this worker serves a file, or is about to start", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(policy.Status())
}

// close stops the server.
func (h *health) close() {
	if h.server != nil {
		_ = h.server.Close()
	}
	<-h.done
}
