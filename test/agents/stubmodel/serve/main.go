// Command serve runs the stub model as a process, for tests that are not in Go:
//
//	go run ./test/agents/stubmodel/serve
//
// It writes its URL to standard output, and ends with its standard input. PUT /command sets the
// command that agents must run, and clears earlier requests; with ?before=URL, the URL is fetched
// before the model asks for the command, and each next=COMMAND follows after a result. GET /requests returns the requests of agents.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/hookrouter/hookrouter/test/agents/stubmodel"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run(stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newHandler(), ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, stdin) // until the parent process has ended
		_ = server.Close()
	}()
	fmt.Fprintf(stdout, "http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler serves a model that each PUT /command replaces.
type handler struct {
	*http.ServeMux
	mu    sync.Mutex
	model *stubmodel.Server
}

func newHandler() *handler {
	h := &handler{ServeMux: http.NewServeMux(), model: &stubmodel.Server{}}
	h.HandleFunc("PUT /command", func(_ http.ResponseWriter, r *http.Request) {
		command, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		h.mu.Lock()
		defer h.mu.Unlock()
		query := r.URL.Query()
		h.model = &stubmodel.Server{Command: string(command), Next: query["next"], Before: fetch(query.Get("before"))}
	})
	h.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) {
		requests := []json.RawMessage{}
		for _, one := range h.current().Requests() {
			requests = append(requests, one.Body)
		}
		_ = json.NewEncoder(w).Encode(requests)
	})
	h.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { h.current().ServeHTTP(w, r) })
	return h
}

// fetch returns a function that fetches a URL before the model asks for the call.
func fetch(url string) func(stubmodel.Request) {
	if url == "" {
		return nil
	}
	return func(r stubmodel.Request) {
		if r.Results > 0 {
			return
		}
		if reply, err := http.Get(url); err == nil { // an error means that the test has ended
			_ = reply.Body.Close()
		}
	}
}

func (h *handler) current() *stubmodel.Server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.model
}
