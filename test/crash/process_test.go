package crash

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
)

// roleVariable is set in the environment of the processes that a test starts of
// its own program; the others say what they do.
const (
	roleVariable   = "HOOKROUTER_TEST_ROLE"
	listenVariable = "HOOKROUTER_TEST_LISTEN"
	storeVariable  = "HOOKROUTER_TEST_STORE"
	routeVariable  = "HOOKROUTER_TEST_ROUTE"
	routesVariable = "HOOKROUTER_TEST_ROUTES"
	lazyVariable   = "HOOKROUTER_TEST_LAZY"
)

// build builds the hook-router as this test is built.
func build(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/hook-router"
	args := slices.Concat([]string{"build", "-o", path}, raceFlags, []string{"github.com/hookrouter/hookrouter/cmd/hook-router"})
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// process is a program that a test started; it ends with the test.
type process struct {
	cmd   *exec.Cmd
	said  chan struct{} // closed when it says that it is ready
	ended chan struct{} // closed when it has ended
	err   error         // how; set before ended is closed
	log   tail

	mu  sync.Mutex
	out strings.Builder // what it wrote until it was ready
}

// launch starts a program that says that it is ready in a line with last.
func launch(t *testing.T, cmd *exec.Cmd, last string) *process {
	t.Helper()
	p := &process{cmd: cmd, said: make(chan struct{}), ended: make(chan struct{})}
	cmd.Stderr = &p.log
	if os.Getenv("HOOKROUTER_TEST_LOG") != "" {
		cmd.Stderr = io.MultiWriter(os.Stderr, &p.log)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			p.mu.Lock()
			p.out.WriteString(lines.Text() + "\n")
			p.mu.Unlock()
			if strings.Contains(lines.Text(), last) {
				close(p.said)
				break
			}
		}
		_, _ = io.Copy(io.Discard, stdout)
		p.err = cmd.Wait()
	}()
	t.Cleanup(func() { p.kill(t) })
	return p
}

// ready waits until the process says that it is, and reports whether it does.
func (p *process) ready(ctx context.Context) bool {
	select {
	case <-p.said:
		return true
	case <-p.ended:
	case <-ctx.Done():
	}
	return false
}

// kill ends the process as kill -9 does. It does no harm to one that has ended.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.end(t, syscall.SIGKILL)
}

// end sends a signal and waits until the process has ended.
func (p *process) end(t *testing.T, s syscall.Signal) {
	t.Helper()
	_ = p.cmd.Process.Signal(s)
	select {
	case <-p.ended:
	case <-time.After(40 * time.Second):
		t.Errorf("process %d does not end", p.cmd.Process.Pid)
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// stands waits until every thread of a process that was stopped stands.
func (p *process) stands(t *testing.T, ctx context.Context) {
	t.Helper()
	tasks := fmt.Sprintf("/proc/%d/task/", p.cmd.Process.Pid)
	eventually(t, ctx, "the process stands", func() bool {
		threads, err := os.ReadDir(tasks)
		return err == nil && !slices.ContainsFunc(threads, func(thread os.DirEntry) bool {
			stat, err := os.ReadFile(tasks + thread.Name() + "/stat")
			_, state, _ := strings.Cut(string(stat), ") ")
			return err == nil && !strings.HasPrefix(state, "T")
		})
	})
}

func (p *process) find(t *testing.T, pattern string) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	m := regexp.MustCompile(pattern).FindStringSubmatch(p.out.String())
	if m == nil {
		t.Fatalf("%s does not say %s", p.out.String(), pattern)
	}
	return m[1]
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(len(t.text)-16<<10, 0):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// startRouter starts a hook-router on the store of its own NATS, or on another's. As
// after a power cut, one that ends at once because NATS is not up yet is started again.
func startRouter(t *testing.T, ctx context.Context, program string, flags ...string) *process {
	t.Helper()
	args := append([]string{"--http-listen=127.0.0.1:0", "--log-level=warn", "--audit=strict", "--audit-data=full"}, flags...)
	for {
		cmd := exec.Command(program, args...) //nolint:noctx // it is ended by a signal
		cmd.Dir = t.TempDir()
		p := launch(t, cmd, "health")
		if p.ready(ctx) {
			return p
		}
		p.kill(t)
		if ctx.Err() != nil {
			t.Fatalf("the hook-router does not start: %v\n%s", p.err, &p.log)
		}
	}
}

// natsServer is a nats-server that a test runs as a process of its own.
type natsServer struct {
	store, listen string
	route         string   // where it listens for the others of its cluster; empty for none
	routes        []string // of all of them
	lazy          bool     // it syncs every two minutes, as nats-server does by default
}

func (s natsServer) launch(t *testing.T) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) //nolint:noctx // it is ended by a signal
	cmd.Env = append(os.Environ(), roleVariable+"=nats", storeVariable+"="+s.store, listenVariable+"="+s.listen,
		routeVariable+"="+s.route, routesVariable+"="+strings.Join(s.routes, ","), lazyVariable+"="+strconv.FormatBool(s.lazy))
	return launch(t, cmd, "is ready")
}

// natsRole is this test program as a nats-server.
func natsRole() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := embedded.Options{
		Listen: os.Getenv(listenVariable), StoreDir: os.Getenv(storeVariable), NoSync: os.Getenv(lazyVariable) == "true",
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	if route := os.Getenv(routeVariable); route != "" {
		o.ServerName = "n-" + strings.ReplaceAll(route, ":", "-")
		o.Cluster = embedded.Cluster{Name: "crash", Listen: route, Routes: strings.Split(os.Getenv(routesVariable), ",")}
	}
	s, err := embedded.Start(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer s.Stop()
	if o.Cluster.Name != "" && !soon(ctx, s.JetStreamIsCurrent) {
		return 1
	}
	fmt.Println("is ready")
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for {
		select {
		case <-asked:
			sayHeld(s)
		case <-ctx.Done():
			return 0
		}
	}
}

// sayHeld says what the server holds by itself, whatever others of its cluster hold.
func sayHeld(s *embedded.Server) {
	info, err := s.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, "held:", err)
		return
	}
	for _, account := range info.AccountDetails {
		for _, stream := range account.Streams {
			fmt.Fprintf(os.Stderr, "held: %s messages %d to %d, %d removed", stream.Name, stream.State.FirstSeq, stream.State.LastSeq, stream.State.NumDeleted)
			if stream.Cluster != nil {
				fmt.Fprintf(os.Stderr, "; leader %s", stream.Cluster.Leader)
			}
			fmt.Fprintln(os.Stderr)
		}
	}
	fmt.Fprintln(os.Stderr, "held: that is all")
}
