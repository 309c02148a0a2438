package grafana

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// running is a router, and a client of its NATS.
type running struct {
	t      *testing.T
	ctx    context.Context
	nc     *nats.Conn
	health string
}

// run starts the router that is built from the tree, with a collector of traces. It is
// told to end with the test, and must do so well.
func run(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(collector.Close)
	cmd := exec.Command(program(t, "hook-router"), append([]string{"--nats-listen=127.0.0.1:0", "--http-listen=127.0.0.1:0", "--store-dir=" + t.TempDir(), "--auth=off"}, args...)...)
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	log := &strings.Builder{}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the router ended badly: %v\n%s", err, log)
		}
	})
	r := &running{t: t, ctx: ctx}
	url, page := regexp.MustCompile(`nats://[\d.:]+`), regexp.MustCompile(`(http://[\d.:]+)/readyz`)
	for lines := bufio.NewScanner(out); r.health == "" && lines.Scan(); {
		if found := url.FindString(lines.Text()); found != "" && r.nc == nil {
			if r.nc, err = nats.Connect(found); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.nc.Close)
		}
		if found := page.FindStringSubmatch(lines.Text()); found != nil {
			r.health = found[1]
		}
	}
	if r.nc == nil || r.health == "" {
		t.Fatalf("the router does not say where it is:\n%s", log)
	}
	return r
}

// ask sends a request and gives the reply, which has the code, "" for none.
func (r *running) ask(subject, body, code string) *nats.Msg {
	r.t.Helper()
	m, err := r.nc.RequestWithContext(r.ctx, subject, []byte(body))
	if err != nil {
		r.t.Fatalf("%s: %v", subject, err)
	}
	if got := m.Header.Get("Nats-Service-Error-Code"); got != code {
		r.t.Fatalf("%s %s has the code %q, want %q: %s", subject, body, got, code, m.Header.Get("Nats-Service-Error"))
	}
	return m
}

// hook registers a hook that stays and answers with what do returns, nil for no
// answer.
func (r *running) hook(id, registration string, do func(*nats.Msg) string) {
	r.t.Helper()
	if _, err := r.nc.Subscribe("hooks.call."+id, func(m *nats.Msg) {
		if answer := do(m); answer != "" {
			_ = m.RespondMsg(&nats.Msg{Header: nats.Header{"Hook-Call-Id": m.Header["Hook-Call-Id"]}, Data: []byte(answer)})
		}
	}); err != nil {
		r.t.Fatal(err)
	}
	r.register(id, registration)
}

func (r *running) register(id, registration string) {
	r.t.Helper()
	r.ask("hooks.register."+id, `{"durable":true,`+registration+`}`, "")
}

func says(answer string) func(*nats.Msg) string { return func(*nats.Msg) string { return answer } }

// metrics are what /metrics shows.
func (r *running) metrics() Shown {
	r.t.Helper()
	answer, err := r.get(r.health + "/metrics")
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		r.t.Fatalf("/metrics answers %s", answer.Status)
	}
	shown, err := Read(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return shown
}

func (r *running) get(url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// worker starts a worker, and gives what its /metrics shows: nothing until it serves.
func (r *running) worker() func() Shown {
	r.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	address, file := free.Addr().String(), filepath.Join(r.t.TempDir(), "worker.yaml")
	_ = free.Close()
	if err := os.WriteFile(file, []byte(`hooks: [{id: of-a-file, events: ["custom:file"], cel: {rules: [{deny: "no"}]}}]`), 0o600); err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(program(r.t, "hook-worker"), "--config="+file, "--nats-url="+r.nc.ConnectedUrl(), "--http-listen="+address)
	log := &strings.Builder{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			r.t.Errorf("the worker ended badly: %v\n%s", err, log)
		}
	})
	return func() Shown {
		answer, err := r.get("http://" + address + "/metrics")
		if err != nil {
			return nil
		}
		defer answer.Body.Close()
		shown, err := Read(answer.Body)
		if err != nil {
			r.t.Fatal(err)
		}
		return shown
	}
}

// until waits for a condition.
func (r *running) until(what string, holds func() bool) {
	r.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-r.ctx.Done():
			r.t.Fatalf("in time it did not come true: %s", what)
		}
	}
}
