package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookrouter/hookrouter/internal/filewatch"
	"github.com/hookrouter/hookrouter/internal/signals"
	"github.com/hookrouter/hookrouter/internal/testkit"
)

func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "hook-router-home-*") // where a router leaves credentials
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("XDG_CONFIG_HOME", home)
	testkit.Parallel(8) // they wait for routers
	filewatch.SettleAfter(100 * time.Millisecond)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { _ = os.RemoveAll(home); os.Exit(code) }))
}

// buffer is an output that tells of each write.
type buffer struct {
	bytes.Buffer
	wrote chan struct{}
}

func (b *buffer) Write(p []byte) (int, error) {
	n, err := b.Buffer.Write(p)
	select {
	case b.wrote <- struct{}{}:
	default:
	}
	return n, err
}

func TestRunServesUntilItIsToldToStop(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "localhost:0"} {
		t.Run(listen, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			out, log := &buffer{wrote: make(chan struct{}, 1)}, &bytes.Buffer{}
			done := make(chan error, 1)
			go func() {
				done <- run(ctx, []string{"--nats-listen", listen, "--http-listen", "127.0.0.1:0", "--store-dir", t.TempDir()}, out, log, signals.Signals{})
			}()
			select {
			case <-out.wrote:
			case err := <-done:
				t.Fatal(err)
			}
			stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"is ready after", "nats://", "/readyz"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output has no %q:\n%s", want, out.String())
				}
			}
			if _, after, stopping := strings.Cut(log.String(), `"msg":"stopping: no new requests are accepted","drain_timeout":"30s"`); !stopping || !strings.Contains(after, `"msg":"stopped"`) {
				t.Errorf("the log does not say that it stops:\n%s", log.String())
			}
		})
	}
}

func TestRunSaysWhatIsWrongWithItsFlags(t *testing.T) {
	const nowhere = "nats://127.0.0.1:1"
	t.Chdir(t.TempDir()) // where the defaults put files
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(rules, []byte("rules:\n  - decision: perhaps\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--nope"}, "--nope"},
		{[]string{"--max-data", "0"}, "--max-data must be positive"},
		{[]string{"--max-reply=-1"}, "--max-reply must be positive"},
		{[]string{"--max-in-flight", "0"}, "--max-in-flight must be positive"},
		{[]string{"--max-per-session", "0"}, "--max-per-session must be positive"},
		{[]string{"--chain-timeout", "0s"}, "--chain-timeout must be positive"},
		{[]string{"--collect-timeout", "0s"}, "--collect-timeout must be positive"},
		{[]string{"--ttl=-1s"}, "--ttl must be positive"},
		{[]string{"--drain-timeout=-1s"}, "--drain-timeout must not be negative"},
		{[]string{"--jetstream-replicas=-1"}, "--jetstream-replicas must not be negative"},
		{[]string{"--jetstream-replicas", "3"}, "--jetstream-replicas is 3 and the embedded NATS server is only one: join a cluster with --nats-url"},
		{[]string{"--nats-url", nowhere, "--nats-listen", "127.0.0.1:0"}, "--nats-listen is for the embedded NATS server, and --nats-url starts none"},
		{[]string{"serve", "--store-dir", t.TempDir(), "--nats-url", nowhere}, "--store-dir is for the embedded NATS server, and --nats-url starts none"},
		{[]string{"--nats-url", nowhere}, "connect to NATS at " + nowhere}, // the defaults of both are no contradiction
		{[]string{"--nats-url", nowhere, "--jetstream-replicas", "3"}, "connect to NATS at " + nowhere},
		{[]string{"--max-questions", "0"}, "--max-questions must be positive"},
		{[]string{"--injection-budget-per-turn", "0"}, "--injection-budget-per-turn must be positive"},
		{[]string{"--console-token", "short"}, "--console-token"},
		{[]string{"--webhook", "http://127.0.0.1:1/x"}, "HOOK_ROUTER_WEBHOOK_SECRET"},
		{[]string{"--approvals", "off", "--approval-rules", rules}, "--approvals=off and --approval-rules contradict"},
		{[]string{"--approvals", "off", "--webhook", "http://127.0.0.1:1/x", "--webhook-secret", "x"}, "--approvals=off and --webhook contradict"},
		{[]string{"--approvers", "proven", "--console", "off", "--auth", "off"}, "nobody could answer"},
		{[]string{"--approvers", "proven", "--webhook", "http://127.0.0.1:1/x", "--webhook-secret", "x", "--webhook-links", "--console-url", "http://127.0.0.1:1"}, "--approvers=proven and --webhook-links contradict"},
		{[]string{"--nats-listen", "0.0.0.0:0"}, "is beyond loopback: give --nats-tls-cert"},
		{[]string{"--nats-listen", "[::]:0", "--auth", "off"}, "--auth=off lets in whoever reaches"},
		{[]string{"--agent-http-listen", "0.0.0.0:0"}, "is beyond loopback: give --agent-http-tls-cert"},
		{[]string{"--agent-http-tls-key", rules}, "--agent-http-tls-cert and --agent-http-tls-key belong together"},
		{[]string{"--nats-tls-cert", rules}, "--nats-tls-cert and --nats-tls-key belong together"},
		{[]string{"--nats-url", nowhere, "--auth", "off"}, "--auth is for the embedded NATS server"},
		{[]string{"--identities", rules}, "--identities is for --nats-url"},
		{[]string{"--nats-url", nowhere, "--identities", rules}, "read the identities"},
		{[]string{"--nats-url", nowhere, "--identities", rules, "--identities", rules + ".none"}, "--identities is given twice"},
		{[]string{"--approval-rules", rules, "--store-dir", t.TempDir()}, rules + ":2:"},
		{[]string{"--max-data", "many"}, "--max-data"},
		{[]string{"--publish-data", "some"}, "publish-data"},
		{[]string{"--nats-listen", "127.0.0.1:0", "--store-dir", filepath.Join(rules, "data")}, "not a directory: choose a directory that this user can write with --store-dir"},
		{[]string{"--nats-listen", "127.0.0.1:0", "--store-dir", t.TempDir(), "--audit-key", filepath.Join(rules, "key")}, "not a directory: name another place with --audit-key"},
		{[]string{"--nats-listen", "nowhere", "--store-dir", t.TempDir()}, "host:port"},
	} {
		var out, log bytes.Buffer
		err := run(t.Context(), tt.args, &out, &log, signals.Signals{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want one with %q", tt.args, err, tt.want)
		}
	}
}

func TestAPortThatIsTakenIsNamedOnce(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var out, log bytes.Buffer
	err = run(t.Context(), []string{"--nats-listen", l.Addr().String(), "--http-listen", "", "--store-dir", t.TempDir()}, &out, &log, signals.Signals{})
	if err == nil || strings.Count(err.Error(), "address already in use") != 1 || !strings.Contains(err.Error(), "in use: is another hook-router") {
		t.Errorf("error %v; want the cause once, and what to do", err)
	}
}

func TestPrintedAddressesCanBeOpened(t *testing.T) {
	for addr, want := range map[string]string{"": "", "127.0.0.1:8080": "127.0.0.1:8080", "[::]:8080": "127.0.0.1:8080", "0.0.0.0:8080": "127.0.0.1:8080"} {
		if got := reachable(addr); got != want {
			t.Errorf("%q is printed as %q, want %q", addr, got, want)
		}
	}
}
