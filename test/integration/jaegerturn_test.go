package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel"

	"github.com/hookrouter/hookrouter/internal/telemetry"
	"github.com/hookrouter/hookrouter/internal/telemetry/otlp"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/pkg/agent"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// startHookWorker starts a hook-worker with a file.
func startHookWorker(t *testing.T, program, url, name, file string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `exec "$0" "$@" 2>&1`, program, "--config", path) //nolint:noctx // it is ended by a signal
	cmd.Env = append(os.Environ(), "HOOK_WORKER_NATS_URL="+url, "OTEL_RESOURCE_ATTRIBUTES=service.instance.id=worker-"+name)
	started(t, cmd, "answers for", nil)
}

// agentTurn is what an agent says of its turn.
type agentTurn struct {
	Trace  string
	Chains []string
	Err    string
}

// agentProcess is this test program as an agent.
type agentProcess struct{ *testkit.Process }

func startAgent(t *testing.T, url string) *agentProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) //nolint:noctx // it is ended by a signal
	cmd.Env = append(os.Environ(), roleVariable+"=agent", "HOOKROUTER_TEST_URL="+url, "HOOKROUTER_TEST_OUT="+filepath.Join(t.TempDir(), "turn"))
	return &agentProcess{started(t, cmd, "is ready", nil)}
}

// done waits for the end of the turn.
func (a *agentProcess) done(t *testing.T) (turn agentTurn) {
	t.Helper()
	select {
	case <-a.Ended():
	case <-time.After(60 * time.Second):
		_ = a.End(t, syscall.SIGKILL)
		t.Fatal("the agent does not end its turn")
	}
	for _, setting := range a.Cmd.Env {
		if path, ok := strings.CutPrefix(setting, "HOOKROUTER_TEST_OUT="); ok {
			text, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(text, &turn)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if turn.Err != "" || len(turn.Chains) != 2 {
		t.Fatalf("the agent's turn: %+v", turn)
	}
	return turn
}

// agentRole is an agent that has traces: it deploys, which a person is asked about, and
// wants a shell.
func agentRole() int {
	ctx, stop := signalContext()
	defer stop()
	shown, err := telemetry.Start(ctx, telemetry.Options{Service: "coding-agent", Exporters: otlp.Exporters(), Global: true})
	if err != nil {
		return fail(err)
	}
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: os.Getenv("HOOKROUTER_TEST_URL")})
	if err != nil {
		return fail(err)
	}
	defer client.Close()
	a, err := agent.New(client, agent.Options{Session: "s1"})
	if err != nil {
		return fail(err)
	}
	fmt.Println("is ready")
	ctx, span := otel.Tracer("agent").Start(ctx, "turn")
	turn := agentTurn{Trace: span.SpanContext().TraceID().String()}
	for _, tool := range []string{"Deploy", "Bash"} {
		x, err := a.Execute(ctx, "tool:pre", map[string]string{"tool_name": tool})
		if err != nil || x.Permitted() != (tool == "Deploy") {
			turn.Err = fmt.Sprint(tool, ": ", x.Action, " ", x.Reason, " ", err)
		}
		turn.Chains = append(turn.Chains, x.ChainID)
	}
	span.End()
	if err := shown.Stop(context.WithoutCancel(ctx)); err != nil {
		return fail(err)
	}
	text, err := json.Marshal(turn)
	if err == nil {
		err = os.WriteFile(os.Getenv("HOOKROUTER_TEST_OUT"), text, 0o600)
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

// approve allows what is asked, after a moment's thought, and says from when to when
// that was.
func approve(t *testing.T, ctx context.Context, nc *nats.Conn) (asked, answered time.Time) {
	t.Helper()
	a := approver.New(natstest.Client(t, hookrouter.Options{Conn: nc}))
	var open []approval.Request
	var err error
	testkit.Until(t, ctx, "a person is asked", func() bool {
		open, _, err = a.Pending(ctx, approval.Filter{})
		return err == nil && len(open) == 1
	})
	asked = time.Now()
	<-time.After(200 * time.Millisecond)
	answered = time.Now()
	if _, err := a.Answer(ctx, open[0].ID, approval.Answer{Option: "Allow", By: "ann"}); err != nil {
		t.Fatal(err)
	}
	return asked, answered
}
