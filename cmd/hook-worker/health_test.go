package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// page gets a page of a worker; the code is 0 where nobody answers.
func page(t *testing.T, address, path string) (code int, text string) {
	t.Helper()
	r, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// currentFile is the value of the metric hook_worker_file_current; empty for none.
func currentFile(t *testing.T, address string) string {
	t.Helper()
	_, text := page(t, address, "/metrics")
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); strings.HasPrefix(line, "hook_worker_file_current") {
			return words[len(words)-1]
		}
	}
	return ""
}

const oneHook = `hooks: [{id: one, events: [a], cel: {rules: [{deny: "no"}]}}]`

// Connections to the pages must not take the files that hooks need.
func TestTheHealthPagesKeepFewConnections(t *testing.T) {
	address := testkit.FreeAddrs(t, 1)[0]
	_, stop := start(t, listen(t), write(t, oneHook), "--http-listen", address)
	t.Cleanup(func() { _ = stop() })
	var first net.Conn
	for range 2 * maxConnections {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if first == nil {
			first = conn
		}
	}
	_ = first.SetReadDeadline(time.Now().Add(3 * time.Second))
	if _, err := first.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the first of %d connections is still open: %v", 2*maxConnections, err)
	}
	if code, text := page(t, address, "/readyz"); code != http.StatusOK {
		t.Errorf("/readyz: %d %s", code, text)
	}
}

func TestTheHealthPagesHaveNoForeignName(t *testing.T) {
	address := testkit.FreeAddrs(t, 1)[0]
	_, stop := start(t, listen(t), write(t, oneHook), "--http-listen", address)
	t.Cleanup(func() { _ = stop() })
	for _, path := range []string{"/healthz", "/readyz", "/policy", "/metrics"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "evil.example"
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

func TestTheHealthPagesOfAWorker(t *testing.T) {
	address := testkit.FreeAddrs(t, 1)[0]
	file := write(t, oneHook)
	_, stop := start(t, listen(t), file, "--http-listen", address)
	for path, want := range map[string]string{"/healthz": `{"status":"ok"}`, "/readyz": `{"status":"ok"}`, "/metrics": "go_goroutines"} {
		if code, text := page(t, address, path); code != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	testkit.Eventually(t, "the metrics have the file", func() bool {
		_, text := page(t, address, "/metrics")
		return strings.Contains(text, "hook_worker_file_current") && strings.Contains(text, "hook_worker_file_reads_total")
	})
	if err := os.WriteFile(file, []byte("hooks: [{id: one}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "a file that is not taken shows in the metrics, and the worker stays ready", func() bool {
		code, _ := page(t, address, "/readyz")
		return currentFile(t, address) == "0" && code == http.StatusOK
	})
	if err := stop(); err != nil {
		t.Error(err)
	}
	if code, _ := page(t, address, "/healthz"); code != 0 {
		t.Errorf("a worker that was stopped answers %d", code)
	}
}

// TestAWorkerIsNotReadyWithoutARouter waits for a router, which never comes.
func TestAWorkerIsNotReadyWithoutARouter(t *testing.T) {
	s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: natstest.StoreDir(t), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	address := testkit.FreeAddrs(t, 1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--config", write(t, oneHook), "--nats-url", s.ClientURL(), "--http-listen", address}, process{stdout: io.Discard, stderr: io.Discard})
	}()
	testkit.Eventually(t, "it is alive, and not ready", func() bool {
		alive, _ := page(t, address, "/healthz")
		code, text := page(t, address, "/readyz")
		return alive == http.StatusOK && code == http.StatusServiceUnavailable && strings.Contains(text, "the hooks are not registered")
	})
	cancel()
	if err := <-done; err != nil {
		t.Errorf("it was stopped: %v", err)
	}
}

func TestAnAddressThatIsTakenIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = run(t.Context(), []string{"--config", write(t, oneHook), "--http-listen", l.Addr().String()}, process{stdout: io.Discard, stderr: io.Discard})
	if err == nil || exitCode(err) != 2 || !strings.Contains(fmt.Sprint(err), "serve the health pages") {
		t.Errorf("error %v", err)
	}
}
