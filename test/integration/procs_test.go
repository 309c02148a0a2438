package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

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

// build builds the hook-router; flags are those of go build.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	return buildProgram(t, "hook-router", flags...)
}

// buildProgram builds a program of cmd.
func buildProgram(t *testing.T, name string, flags ...string) string {
	t.Helper()
	path := t.TempDir() + "/" + name
	args := slices.Concat([]string{"build", "-o", path}, flags, []string{"github.com/hookrouter/hookrouter/cmd/" + name})
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// process is a program that a test started; it ends with the test.
type process struct {
	cmd   *exec.Cmd
	out   strings.Builder // what it wrote until it was ready
	ready time.Duration   // from the start to that line
	ended chan struct{}   // closed when it has ended
	err   error           // how; set before ended is closed
}

// start starts a program and waits until it says that it is ready, in a line with
// last.
func start(t *testing.T, cmd *exec.Cmd, last string) *process {
	t.Helper()
	return startTold(t, cmd, last, func(string) {})
}

// startTold is start, and tells of each line that is written after that one.
func startTold(t *testing.T, cmd *exec.Cmd, last string, tell func(line string)) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("HOOKROUTER_TEST_LOG") != "" {
		cmd.Stderr = os.Stderr
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(chan bool, 1)
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(stdout)
		for ready := false; !ready && lines.Scan(); {
			if strings.Contains(lines.Text(), "is ready") {
				p.ready = time.Since(began)
			}
			p.out.WriteString(lines.Text() + "\n")
			if ready = strings.Contains(lines.Text(), last); ready {
				said <- true
			}
		}
		for lines.Scan() {
			tell(lines.Text())
		}
		_, _ = io.Copy(io.Discard, stdout) // a line was too long
		p.err = cmd.Wait()
		close(said)
	}()
	t.Cleanup(func() { _ = p.end(t, syscall.SIGKILL) })
	select {
	case ok := <-said:
		if !ok {
			t.Fatalf("%s ended before it was ready: %v", cmd.Path, p.err)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("%s is not ready after 20 s", cmd.Path)
	}
	return p
}

func (p *process) pid() string { return strconv.Itoa(p.cmd.Process.Pid) }

// end sends a signal and waits until the process has ended. It does no harm to
// one that has.
func (p *process) end(t *testing.T, s syscall.Signal) error {
	t.Helper()
	_ = p.cmd.Process.Signal(s)
	select {
	case <-p.ended:
	case <-time.After(40 * time.Second):
		t.Errorf("process %s does not end", p.pid())
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	return p.err
}

// resident is the memory that the process holds, in KB.
func (p *process) resident(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("memory is read from /proc")
	}
	status, err := os.ReadFile("/proc/" + p.pid() + "/status")
	if err != nil {
		t.Fatal(err)
	}
	kb, err := strconv.Atoi(find(t, `VmRSS:\s+(\d+) kB`, string(status)))
	if err != nil {
		t.Fatal(err)
	}
	return kb
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
	*process
	url   string // of its NATS
	claim string // when it says that it was ready
}

// startRouter starts a hook-router with a store and an address for its own NATS,
// or with the URL of another.
func startRouter(t *testing.T, program, store, listen, joins string) *routerProcess {
	t.Helper()
	args := []string{"--http-listen=127.0.0.1:0", "--log-level=warn"}
	if joins != "" {
		args = append(args, "--nats-url="+joins)
	} else {
		args = append(args, "--nats-listen="+listen, "--store-dir="+store)
	}
	cmd := exec.Command(program, args...) //nolint:noctx // it is ended by a signal
	cmd.Dir = t.TempDir()
	p := start(t, cmd, "health")
	out := p.out.String()
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
	nc, err := nats.Connect(r.url, nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// startWorker starts this test program as a worker with one hook.
func startWorker(t *testing.T, url string, reg worker.Registration) *process {
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
	return start(t, cmd, "is ready")
}
