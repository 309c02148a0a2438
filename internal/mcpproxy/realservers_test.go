package mcpproxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// realServer is a server that others publish, pinned, and a call of one of its tools whose
// result says what it ran with.
type realServer struct {
	name, pkg, version string
	python             bool
	command            func(dir, data string) []string
	tool               string
	input              func(data string) map[string]any
	from, to           string // of a change of the input
	says, changed      string // the result holds, without and with it
}

func realServers() []realServer {
	script := func(dir, pkg string) string { return filepath.Join(dir, "node_modules", pkg, "dist", "index.js") }
	return []realServer{
		{
			name: "filesystem", pkg: "@modelcontextprotocol/server-filesystem", version: "2026.8.31",
			command: func(dir, data string) []string {
				return []string{"node", script(dir, "@modelcontextprotocol/server-filesystem"), data}
			},
			tool:  "read_text_file",
			input: func(data string) map[string]any { return map[string]any{"path": filepath.Join(data, "a.txt")} },
			from:  "a.txt", to: "b.txt", says: "TEXT-A", changed: "TEXT-B",
		},
		{
			name: "memory", pkg: "@modelcontextprotocol/server-memory", version: "2026.8.31",
			command: func(dir, _ string) []string {
				return []string{"node", script(dir, "@modelcontextprotocol/server-memory")}
			},
			tool: "create_entities",
			input: func(string) map[string]any {
				return map[string]any{"entities": []map[string]any{{"name": "Ann", "entityType": "person", "observations": []string{}}}}
			},
			from: "Ann", to: "Bea", says: "Ann", changed: "Bea",
		},
		{
			name: "time", pkg: "mcp-server-time", version: "2026.10.19", python: true,
			command: func(dir, _ string) []string { return []string{filepath.Join(dir, "bin", "mcp-server-time")} },
			tool:    "get_current_time",
			input:   func(string) map[string]any { return map[string]any{"timezone": "Europe/Berlin"} },
			from:    "Europe/Berlin", to: "Asia/Tokyo", says: "Europe/Berlin", changed: "Asia/Tokyo",
		},
	}
}

// Servers that others publish: a call passes, is denied, changed and asked about. The
// variable MCP_SERVERS names some of them, or all.
func TestRealServers(t *testing.T) {
	wanted := strings.Split(os.Getenv("MCP_SERVERS"), ",")
	if wanted[0] == "" {
		t.Skip("runs no published server: MCP_SERVERS=all, or filesystem, memory, time")
	}
	for _, server := range realServers() {
		t.Run(server.name, func(t *testing.T) {
			if !slices.Contains(wanted, "all") && !slices.Contains(wanted, server.name) {
				t.Skip("MCP_SERVERS does not name it")
			}
			try(t, server, install(t, server))
		})
	}
}

func try(t *testing.T, server realServer, dir string) {
	data := t.TempDir()
	for name, text := range map[string]string{"a.txt": "TEXT-A", "b.txt": "TEXT-B"} {
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := start(t)
	c := exec.Command(testkit.Program(t, "hook-agent"), append([]string{"mcp-proxy", "--"}, server.command(dir, data)...)...)
	c.Env = append(os.Environ(), "NATS_URL="+b.url, "NATS_CREDS=", "HOME="+t.TempDir(), "MEMORY_FILE_PATH="+filepath.Join(data, "memory.jsonl"))
	s := connect(t, c, "")
	t.Logf("%s %s speaks %s", server.pkg, server.version, s.InitializeResult().ProtocolVersion)
	run := func() *mcp.CallToolResult {
		t.Helper()
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: server.tool, Arguments: server.input(data)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	b.at("tool:pre", func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("POLICY-NO") })
	if r := run(); !r.IsError || textOf(r) != "POLICY-NO" {
		t.Errorf("deny: %s", textOf(r))
	}
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		return worker.Modify(json.RawMessage(strings.ReplaceAll(string(ev.Data), server.from, server.to)))
	})
	if r := run(); r.IsError || !strings.Contains(textOf(r), server.changed) || strings.Contains(textOf(r), server.says) {
		t.Errorf("modify: %s", textOf(r))
	}
	names := make(chan string, 1)
	b.at("tool:pre", func(_ context.Context, ev worker.Event) (worker.Result, error) {
		var data struct {
			ToolName string `json:"tool_name"`
		}
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			return worker.Result{}, err
		}
		names <- data.ToolName
		return worker.Ask("May it?", "Allow once", "Deny")
	})
	people := approver.New(b.client)
	for _, option := range []string{"Deny", "Allow once"} {
		done := make(chan *mcp.CallToolResult, 1)
		go func() { done <- run() }()
		if name := testkit.Receive(t, "a question", names); !strings.HasPrefix(name, "mcp__") || !strings.HasSuffix(name, "__"+server.tool) {
			t.Errorf("the tool is called %s", name)
		}
		testkit.Eventually(t, "the question is answered", func() bool {
			list, _, err := people.Pending(t.Context(), approval.Filter{})
			if err != nil || len(list) == 0 {
				return false
			}
			_, err = people.Answer(t.Context(), list[0].ID, approval.Answer{Option: option})
			return err == nil
		})
		if r := testkit.Receive(t, "a result", done); r.IsError != (option == "Deny") || strings.Contains(textOf(r), server.says) == r.IsError {
			t.Errorf("%s: %s", option, textOf(r))
		}
	}
}

// install puts a server into the user's cache, unless it is there.
func install(t *testing.T, server realServer) (dir string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir = filepath.Join(cache, "hookrouter-test", "mcp", server.name+"-"+server.version)
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	commands := [][]string{{"npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", dir, server.pkg + "@" + server.version}}
	needs := "npm"
	if server.python {
		needs = "python3"
		commands = [][]string{
			{"python3", "-m", "venv", dir},
			{filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--only-binary", ":all:", server.pkg + "==" + server.version},
		}
	}
	if _, err := exec.LookPath(needs); err != nil {
		t.Skipf("%s can't be installed: %s is not in PATH", server.pkg, needs)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, words := range commands {
		if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s can't be installed: %v\n%s", server.pkg, err, out)
		}
	}
	if err := os.WriteFile(done, fmt.Appendln(nil, server.pkg), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
