package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
)

// asProgram makes the test's program the program itself.
const asProgram = "HOOK_WORKER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	testkit.Parallel(48) // they wait for files, processes and routers
	filewatch.SettleAfter(40 * time.Millisecond)
	goleak.VerifyTestMain(m)
}

// TestTheSecondSignalEndsAtOnce has a command that ends with the test, which answers the call
// in the place of the worker.
func TestTheSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			running := filepath.Join(t.TempDir(), "running")
			if err := syscall.Mkfifo(running, 0o600); err != nil {
				t.Fatal(err)
			}
			url := listen(t)
			file := write(t, "hooks:\n  - {id: slow, events: [a], timeout_ms: 20000, exec: {command: [sh, -c, 'echo > \"$1\"; exec sleep 1000', sh, "+running+"]}}\n")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			stderr := &log{}
			worker := exec.CommandContext(t.Context(), self, "--config", file, "--nats-url", url)
			worker.Env, worker.Stdout, worker.Stderr = append(os.Environ(), asProgram+"=1"), &bytes.Buffer{}, stderr
			if err := worker.Start(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- worker.Wait() }()
			says(t, stderr, " answers for ")
			a := connect(t, url)
			calls := make(chan *nats.Msg, 1)
			watch, err := nats.Connect(url)
			if err != nil {
				t.Fatal(err)
			}
			defer watch.Close()
			if _, err := watch.ChanSubscribe("hooks.call.slow", calls); err != nil || watch.Flush() != nil {
				t.Fatal(err)
			}
			emitted := make(chan struct{})
			go func() {
				defer close(emitted)
				_, _ = a.Emit(t.Context(), "a", nil)
			}()
			defer func() { <-emitted }()
			call := testkit.Receive(t, "the call", calls)
			defer func() { natstest.Respond(call, nil, []byte("{}")) }()
			if _, err := os.ReadFile(running); err != nil { // the command runs
				t.Fatal(err)
			}
			if err := worker.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			says(t, stderr, `"msg":"stopping; a second signal ends at once","calls":1,"limit":"30s"`)
			if err := worker.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				if err == nil || !strings.HasPrefix(err.Error(), "signal: "+signal.String()) {
					t.Errorf("it ended with %v; want %s", err, signal)
				}
			case <-time.After(10 * time.Second): // less than the limit
				t.Errorf("it goes on:\n%s", stderr)
			}
		})
	}
}

func TestAWorkerSaysThatItStops(t *testing.T) {
	t.Parallel()
	stderr, stop := start(t, listen(t), write(t, "hooks:\n  - {id: a, events: [x], cel: {rules: [{deny: 'no'}]}}\n"))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if _, after, stopping := strings.Cut(stderr.String(), `"msg":"stopping: no new calls are accepted"`); !stopping || !strings.Contains(after, `"msg":"stopped"`) {
		t.Errorf("the log does not say that it stops:\n%s", stderr)
	}
}
