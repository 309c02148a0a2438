package mcpproxy_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// program is hook-agent before a server of this test program.
func program(t testing.TB, url, mode string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(testkit.Program(t, "hook-agent"), "mcp-proxy", "--name", "srv", "--", self)
	c.Env = []string{"NATS_URL=" + url, "NATS_CREDS=", "HOOK_ROUTER_PREFIX=hooks", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), serverVariable + "=" + mode, "KEPT=yes"}
	return c
}

// connect starts a server, by itself or behind a proxy, with a client of the SDK.
func connect(t testing.TB, c *exec.Cmd, revision string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	s, err := client.Connect(context.Background(), &mcp.CommandTransport{Command: c}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func echo(ctx context.Context, t testing.TB, s *mcp.ClientSession, text string) *mcp.CallToolResult {
	t.Helper()
	result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": text}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func textOf(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

// Clients and servers of all revisions work as they do without the proxy.
func TestRevisions(t *testing.T) {
	t.Parallel()
	b := start(t)
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		if strings.Contains(string(ev.Data), "evil") {
			return worker.Deny("POLICY-NO")
		}
		return worker.Continue()
	})
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			s := connect(t, program(t, b.url, "sdk"), revision)
			if got := s.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("they speak %s", got)
			}
			tools, err := s.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 1 {
				t.Errorf("%v: %v", tools, err)
			}
			if r := echo(t.Context(), t, s, "hi"); r.IsError || textOf(r) != "echo: hi" {
				t.Errorf("%+v", r)
			}
			if r := echo(t.Context(), t, s, "evil"); !r.IsError || textOf(r) != "POLICY-NO" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// The server gets the environment without what hook-agent reaches the router with.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	c := program(t, start(t).url, "env")
	c.Stdin = strings.NewReader("")
	out, err := c.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("%v; want the server's exit code", err)
	}
	if got := string(out); !strings.Contains(got, "KEPT=yes") || strings.Contains(got, "NATS_") || strings.Contains(got, "HOOK_ROUTER") {
		t.Errorf("%s", got)
	}
}

// maxAdded is how much longer an allowed call may take through the proxy, at the median.
const maxAdded = 2 * time.Millisecond

// What the proxy adds to an allowed call, with hooks at tool:pre and tool:post; calls to the
// server alone and through the proxy take turns.
func TestAddedTime(t *testing.T) {
	if len(testkit.RaceFlags) > 0 {
		t.Skip("the race detector takes its time")
	}
	calls := testkit.Volume(t, 20, 300, 1000)
	b := start(t)
	direct := program(t, b.url, "sdk")
	direct.Path, direct.Args = direct.Args[len(direct.Args)-1], direct.Args[len(direct.Args)-1:]
	alone, gated := connect(t, direct, ""), connect(t, program(t, b.url, "sdk"), "")
	var without, with []time.Duration
	for i := range calls + 10 {
		for _, s := range []*mcp.ClientSession{alone, gated} {
			began := time.Now()
			echo(t.Context(), t, s, "hi")
			took := time.Since(began)
			switch {
			case i < 10: // warm
			case s == alone:
				without = append(without, took)
			default:
				with = append(with, took)
			}
		}
	}
	added := median(with) - median(without)
	t.Logf("p50 of %d calls: %v alone, %v through the proxy: %v added", calls, median(without), median(with), added)
	if testkit.CurrentTier(t) >= testkit.CI && added > maxAdded {
		t.Errorf("the proxy adds %v; want at most %v", added, maxAdded)
	}
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
