package crash

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/internal/testkit"
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

// signalTo sends a signal.
func signalTo(t *testing.T, p *testkit.Process, s os.Signal) {
	t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// stands waits until every thread of a process that was stopped stands.
func stands(t *testing.T, ctx context.Context, p *testkit.Process) {
	t.Helper()
	tasks := "/proc/" + p.Pid() + "/task/"
	testkit.Until(t, ctx, "the process stands", func() bool {
		threads, err := os.ReadDir(tasks)
		return err == nil && !slices.ContainsFunc(threads, func(thread os.DirEntry) bool {
			stat, err := os.ReadFile(tasks + thread.Name() + "/stat")
			_, state, _ := strings.Cut(string(stat), ") ")
			return err == nil && !strings.HasPrefix(state, "T")
		})
	})
}

// startRouter starts a hook-router on the store of its own NATS, or on another's. As
// after a power cut, one that ends at once because NATS is not up yet is started again.
func startRouter(t *testing.T, ctx context.Context, program string, flags ...string) *testkit.Process {
	t.Helper()
	args := append([]string{"--http-listen=127.0.0.1:0", "--log-level=warn", "--audit=strict", "--audit-data=full"}, flags...)
	for {
		cmd := exec.Command(program, args...) //nolint:noctx // it is ended by a signal
		cmd.Dir = t.TempDir()
		p := testkit.Start(t, cmd, "health", nil)
		if p.Ready(ctx) {
			return p
		}
		err := p.End(t, os.Kill)
		if ctx.Err() != nil {
			t.Fatalf("the hook-router does not start: %v\n%s", err, p.Stderr())
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

func (s natsServer) launch(t *testing.T) *testkit.Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) //nolint:noctx // it is ended by a signal
	cmd.Env = append(os.Environ(), roleVariable+"=nats", storeVariable+"="+s.store, listenVariable+"="+s.listen,
		routeVariable+"="+s.route, routesVariable+"="+strings.Join(s.routes, ","), lazyVariable+"="+strconv.FormatBool(s.lazy))
	return testkit.Start(t, cmd, "is ready", nil)
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
	if o.Cluster.Name != "" && !testkit.Soon(ctx, s.JetStreamIsCurrent) {
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
