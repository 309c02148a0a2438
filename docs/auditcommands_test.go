package docs_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookrouter/hookrouter/internal/auditlog"
	"github.com/hookrouter/hookrouter/internal/auditlog/signer"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

// hookctl returns a function that runs it in a role.
func (f *fenced) hookctl(t *testing.T, ctx context.Context) func(role, inbox string, args ...string) (said string, code int) {
	t.Helper()
	state := t.TempDir()
	return func(role, inbox string, args ...string) (string, int) {
		t.Helper()
		env := map[string]string{
			"NATS_URL": "nats://" + f.server.Addr().String(), "NATS_USER": role, "NATS_PASSWORD": "secret", "NATS_INBOX_PREFIX": "_INBOX_" + inbox,
			"HOME": state, "XDG_STATE_HOME": state,
		}
		var out clitest.Diagnostics
		code := hookctl.Run(ctx, append([]string{"audit"}, args...), cli.Process{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(name string) string { return env[name] },
		})
		t.Logf("%s %v:\n%s", role, args, &out)
		if said := strings.ToLower(out.String()); strings.Contains(said, "permission") {
			t.Errorf("%s %v lacks a right:\n%s", role, args, &out)
		}
		return out.String(), code
	}
}

// TestTheCommandsOfAuditNeedNoMore runs the commands with the rights that the operator's
// reference gives to who needs them.
func TestTheCommandsOfAuditNeedNoMore(t *testing.T) {
	t.Parallel()
	ctx := testkit.Within(t, 2*time.Minute)
	file := func(name string) string { return filepath.Join(t.TempDir(), name) }
	type step struct {
		role, inbox string
		args        []string
		code        int
	}
	run := func(t *testing.T, f *fenced, steps []step) {
		t.Helper()
		runs := f.hookctl(t, ctx)
		for _, s := range steps {
			if said, code := runs(s.role, s.inbox, s.args...); code != s.code {
				t.Errorf("%s %v: exit code %d, not %d:\n%s", s.role, s.args, code, s.code, said)
			}
		}
	}
	newKey := func(t *testing.T) (path string, key *signer.Key) {
		t.Helper()
		path = file("audit.key")
		key, err := signer.LoadKey(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, key
	}

	t.Run("a keeper makes what routers need, rotates, and removes", func(t *testing.T) {
		t.Parallel()
		f := serverOf(t, &server.Options{Users: permissionTable(t, "guard")})
		path, key := newKey(t)
		run(t, f, []step{{"keeper", "operator", []string{"bootstrap", "--replicas", "1"}, 0}})
		t.Cleanup(f.start(t, ctx, router.Options{Audit: auditlog.Options{Key: key}}, "router"))
		emit := func() {
			if _, err := f.agent(t, "agent").Emit(ctx, "tool:pre", json.RawMessage(`{"session_id":"s1"}`)); err != nil {
				t.Error(err)
			}
		}
		emit()
		export := file("1.jsonl")
		run(t, f, []step{
			{"keeper", "operator", []string{"bootstrap", "--check"}, 0},
			{"keeper", "operator", []string{"rotate"}, 0},
			{"keeper", "operator", []string{"export", export, "--segment", "1"}, 0},
		})
		emit()
		run(t, f, []step{
			{"keeper", "operator", []string{"verify"}, 20}, // and the next segment is signed then
			{"keeper", "operator", []string{"remove", "HOOKS_AUDIT", "--export", export, "--key", path + ".pub", "--yes"}, 0},
			{"keeper", "operator", []string{"verify", "--no-pin", "--key", path + ".pub"}, 20},
			{"keeper", "operator", []string{"erase", "--session", "s1"}, 0},
		})
	})

	t.Run("auditors and a witness read the mirror", func(t *testing.T) {
		t.Parallel()
		f := accounts(t, "### Auditors and witnesses\n")
		path, key := newKey(t)
		t.Cleanup(f.start(t, ctx, router.Options{Audit: auditlog.Options{Key: key}}, "router"))
		f.mirror(t, ctx)
		if _, err := f.agent(t, "test").Emit(ctx, "tool:pre", json.RawMessage(`{"session_id":"s1"}`)); err != nil {
			t.Fatal(err)
		}
		exported(t, ctx, f.bus(t, "auditor")) // the mirror has the record and the checkpoint of it
		witness := file("witness.key")
		run(t, f, []step{
			{"auditor", "auditor", []string{"tail"}, 0},
			{"auditor", "auditor", []string{"query", "--session", "s1"}, 0},
			{"auditor", "auditor", []string{"stats"}, 0},
			{"auditor", "auditor", []string{"export", file("1.jsonl")}, 0},
			{"auditor", "auditor", []string{"verify", "--key", path + ".pub"}, 20},
			{"auditor", "auditor", []string{"key", "new", witness, "--name", "witness-1"}, 0},
			{"witness", "witness", []string{"witness", "--once", "--witness-key", witness, "--key", path + ".pub", "--state", file("state")}, 0},
		})
		hookctl := f.hookctl(t, ctx)
		testkit.Until(t, ctx, "the mirror has what the witness signed", func() bool {
			_, code := hookctl("auditor", "auditor", "verify", "--no-pin", "--key", path+".pub", "--witness", witness+".pub")
			return code == 0
		})
		run(t, f, []step{{"auditor", "auditor", []string{"prove", "1:0", "-o", file("receipt.json")}, 0}})
	})
}
