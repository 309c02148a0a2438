package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// router is a hook-router with a NATS server, credentials and an audit log of its own.
type router struct {
	t       *testing.T
	dir     string // its home and store
	addr    string // of its NATS server; a port that it chooses at its first start
	process *testkit.Process
}

func newRouter(t *testing.T) *router {
	t.Helper()
	r := &router{t: t, dir: t.TempDir(), addr: "127.0.0.1:0"}
	r.start()
	return r
}

// start starts it, again on the same store and address.
func (r *router) start() {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), testkit.Program(r.t, "hook-router"), "serve",
		"--nats-listen="+r.addr, "--store-dir="+filepath.Join(r.dir, "store"), "--http-listen=127.0.0.1:0", "--log-level=warn")
	cmd.Dir, cmd.Env = r.dir, []string{"HOME=" + r.dir, "PATH=" + os.Getenv("PATH")}
	r.process = testkit.Start(r.t, cmd, "console", nil)
	r.process.MustBeReady(r.t)
	r.addr = r.process.Find(r.t, `NATS +nats://(\S+)`)
}

// kill ends it without a warning.
func (r *router) kill() { _ = r.process.End(r.t, os.Kill) }

func (r *router) url() string { return "nats://" + r.addr }

// creds is the file with the credentials of a role.
func (r *router) creds(role string) string {
	return filepath.Join(r.dir, "store", "auth", "creds", role+".creds")
}

func (r *router) client(role string) *hookrouter.Client {
	r.t.Helper()
	c, err := hookrouter.Connect(r.t.Context(), hookrouter.Options{URL: r.url(), Creds: r.creds(role)})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Conn().Close)
	return c
}

// hook registers a guard of the events that agents report.
func (r *router) hook(handler worker.Handler) {
	r.t.Helper()
	w, err := worker.New(r.client("worker"), worker.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	guard := worker.Registration{
		ID: "guard", OnFailure: worker.FailClosed, TimeoutMS: 25_000, ReplaySafe: true,
		Events: []string{events.SessionStart, events.PromptSubmit, events.ToolPre, events.ToolPost},
	}
	if _, err := w.Register(r.t.Context(), guard, handler); err != nil {
		r.t.Fatal(err)
	}
}

// asked waits until a person is asked.
func (r *router) asked(ctx context.Context, a *approver.Approver) (q approval.Request) {
	r.t.Helper()
	testkit.Until(r.t, ctx, "a person is asked", func() bool {
		list, _, err := a.Pending(ctx, approval.Filter{})
		if err == nil && len(list) > 0 {
			q = list[0]
		}
		return q.ID != ""
	})
	return q
}

// record is what the audit log says of a chain, or of an approval request.
type record struct{ Event, Action, Agent, Emitter string }

// audit reads the audit log.
func (r *router) audit(kind, event string) (list []record) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), testkit.Program(r.t, "hookctl"), "audit", "query",
		"--json", "--kind="+kind, "--event="+event, "--server="+r.url(), "--creds="+r.creds("keeper"))
	cmd.Env = []string{"HOME=" + r.dir}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("hookctl audit query: %v %s", err, &stderr)
	}
	for line := range bytes.Lines(out) {
		var found struct{ Record record }
		if err := json.Unmarshal(line, &found); err != nil {
			r.t.Fatalf("%v: %s", err, line)
		}
		list = append(list, found.Record)
	}
	return list
}

// recorded reports whether the audit log has such an answer to an agent, which its
// credentials prove.
func (r *router) recorded(agent, event, action string) bool {
	r.t.Helper()
	want := record{event, action, "/" + agent, "nats agent/agent"}
	return slices.Contains(r.audit("chain.result", event), want)
}
