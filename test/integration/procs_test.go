package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// roleVariable is set in the environment of the processes that a test starts of
// its own program.
const roleVariable = "HOOKROUTER_TEST_ROLE"

func signalContext() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// started starts a program and waits until it says that it is ready, in a line with
// last; tell gets each line that it writes after that one.
func started(t *testing.T, cmd *exec.Cmd, last string, tell func(line string)) *testkit.Process {
	t.Helper()
	p := testkit.Start(t, cmd, last, tell)
	p.MustBeReady(t)
	return p
}

func find(t *testing.T, pattern, text string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%s does not say %s", text, pattern)
	}
	return m[1]
}

// routerProcess is a hook-router.
type routerProcess struct {
	*testkit.Process
	url   string // of its NATS
	claim string // when it says that it was ready
}

// startRouter starts a hook-router with a store and an address for its own NATS,
// or with the URL of another.
func startRouter(t *testing.T, program, store, listen, joins string, more ...string) *routerProcess {
	t.Helper()
	args := append([]string{"--http-listen=127.0.0.1:0", "--log-level=warn", "--audit-timeout=10s"}, more...)
	if joins != "" {
		args = append(args, "--nats-url="+joins)
	} else {
		args = append(args, "--nats-listen="+listen, "--store-dir="+store, "--auth=off")
	}
	cmd := exec.Command(program, args...) //nolint:noctx // it is ended by a signal
	cmd.Dir = t.TempDir()
	p := started(t, cmd, "health", nil)
	out := p.Stdout()
	r := &routerProcess{p, find(t, `NATS\s+(\S+)`, out), find(t, `is ready after (\d+ ms)`, out)}
	resp, err := http.Get(find(t, `health\s+(\S+)`, out)) //nolint:noctx // it answers or the test fails
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("it says that it is ready, and its health page %s", resp.Status)
	}
	return r
}

// conn connects over TCP.
func (r *routerProcess) conn(t *testing.T) *nats.Conn {
	t.Helper()
	return natstest.Dial(t, r.url, nats.NoReconnect())
}

// startWorker starts this test program as a worker with one hook.
func startWorker(t *testing.T, url string, reg worker.Registration) *testkit.Process {
	t.Helper()
	body, err := json.Marshal(reg)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) //nolint:noctx // it is ended by a signal
	cmd.Env = append(os.Environ(), roleVariable+"=worker", "HOOKROUTER_TEST_URL="+url, "HOOKROUTER_TEST_REGISTRATION="+string(body))
	return started(t, cmd, "is ready", nil)
}
