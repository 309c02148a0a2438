package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookrouter/hookrouter/internal/bus"
	"github.com/hookrouter/hookrouter/internal/node"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// lockedLog is a log that several goroutines write.
type lockedLog struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var quoted = regexp.MustCompile("`([^`]+)`")

// permissionTable reads the table of operator.md: for each role what it may
// publish and subscribe to.
func permissionTable(t *testing.T, id string) []*server.User {
	t.Helper()
	_, part, _ := strings.Cut(read(t, "operator.md"), "## Permissions\n")
	part, _, _ = strings.Cut(part, "\n## ")
	var users []*server.User
	for line := range strings.SplitSeq(part, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(line, "`") {
			continue
		}
		allow := func(cell string) *server.SubjectPermission {
			p := &server.SubjectPermission{}
			for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
				p.Allow = append(p.Allow, strings.ReplaceAll(m[1], "<id>", id))
			}
			return p
		}
		role, _, _ := strings.Cut(strings.Fields(cells[1])[0], ",")
		users = append(users, &server.User{
			Username: role, Password: "secret", Permissions: &server.Permissions{Publish: allow(cells[2]), Subscribe: allow(cells[3])},
		})
	}
	return users
}

// TestThePermissionsAreEnough runs each role with the rights that the operator's
// reference gives it, on a server that grants nothing else.
func TestThePermissionsAreEnough(t *testing.T) {
	ns, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
		Users: permissionTable(t, "guard"),
	})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	defer func() { ns.Shutdown(); ns.WaitForShutdown() }()
	if !ns.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server is not ready")
	}
	log := &lockedLog{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	url := func(role string) string { return fmt.Sprintf("nats://%s:secret@%s", role, ns.Addr()) }
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()

	routing, stop := context.WithCancel(ctx)
	done := make(chan error, 2)
	for range 2 { // so that they report to each other
		n, err := node.Start(ctx, node.Options{NATS: bus.Options{URL: url("router")}, Log: logger})
		if err != nil {
			t.Fatal(err)
		}
		up := make(chan struct{})
		go func() { done <- n.Run(routing, func() { close(up) }) }()
		select {
		case <-up:
		case <-ctx.Done():
			t.Fatalf("a router does not serve:\n%s", log.String())
		}
	}
	w, err := worker.Connect(ctx, worker.Options{URL: url("hook"), Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	reg := worker.Registration{ID: "guard", Events: []string{"tool:pre"}, OnFailure: chain.FailClosed}
	if _, err := w.Register(ctx, reg, func(context.Context, worker.Event) (worker.Result, error) { return worker.Deny("no") }); err != nil {
		t.Fatal(err)
	}
	a, err := agent.Connect(ctx, agent.Options{URL: url("agent"), Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	operator, err := bus.Connect(bus.Options{URL: url("operator"), Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	seen := make(chan string, 2)
	for _, subject := range []string{"hooks.event.>", "hooks.result.>"} {
		if _, err := operator.Subscribe(subject, func(*bus.Message) { seen <- subject }); err != nil {
			t.Fatal(err)
		}
	}
	if err := operator.Conn().FlushTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}

	if answer, err := a.Emit(ctx, "tool:pre", json.RawMessage(`{}`)); err != nil || answer.Reason != "no" {
		t.Errorf("emit: %+v %v", answer, err)
	}
	if _, err := a.EmitAndCollect(ctx, "tool:pre", json.RawMessage(`{}`), time.Second); err != nil {
		t.Error(err)
	}
	if _, err := a.CollectContributions(ctx, "a.b", time.Second); err != nil {
		t.Error(err)
	}
	for range 2 {
		select {
		case <-seen:
		case <-ctx.Done():
			t.Fatal("the operator does not see events")
		}
	}
	for _, subject := range []string{"hooks.handlers", "hooks.registry", "hooks.explain.tool.pre", "$SRV.PING", "$SRV.STATS.hook-worker"} {
		if _, err := operator.Request(ctx, subject, nil, nil); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}
	if err := w.Retire(ctx, "guard"); err != nil {
		t.Error(err)
	}
	if err := w.Close(ctx); err != nil {
		t.Error(err)
	}
	stop()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if text := log.String(); strings.Contains(strings.ToLower(text), "permissions") {
		t.Errorf("somebody lacked a right:\n%s", text)
	}
}
