package hookctl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	signednote "golang.org/x/mod/sumdb/note"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/policy"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// An admin pushes, enforces and rolls back a policy, and a keeper compares it.
func TestAPolicyOnARouterWithCredentials(t *testing.T) {
	t.Parallel()
	f, _ := withIdentities(t)
	dir := t.TempDir()
	private, _, err := signednote.GenerateKey(nil, "policy")
	if err != nil {
		t.Fatal(err)
	}
	key, file := filepath.Join(dir, "key"), filepath.Join(dir, "policy.yaml")
	write(t, key, private+"\n")
	write(t, file, "hooks:\n  - {id: guard, events: [e], cel: {rules: [{deny: no}]}}\ntests:\n  - {name: it denies, event: e, expect: {action: deny}}\n")
	for _, args := range [][]string{
		{"push", "production", file, "--key", key},
		{"push", "production", file, "--key", key, "--shadow"},
		{"compare", "production"},
		{"enforce", "production", "--key", key},
		{"rollback", "production", "--key", key, "--to", "1"},
		{"status"},
	} {
		if got := f.Run(append([]string{"policy"}, args...)...); got.Code != cli.ExitOK {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := f.Run("policy", "diff", file, file); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "no chain was found") {
		t.Errorf("diff: %+v", got)
	}
}

// replay and validate call hooks as admin; nobody else may.
func TestOnlyAdminsCallHooks(t *testing.T) {
	t.Parallel()
	f, auth := withIdentities(t)
	delete(f.Env, "HOOKCTL_FORMAT")
	f.Hook(chain.Registration{ID: "tried", Events: []string{"tool:pre"}, Mode: chain.Shadow}, clitest.Answering(chain.Denial("no")))
	if got := f.Run("emit", "tool:pre", "{}"); got.Code != cli.ExitOK {
		t.Fatalf("emit: %+v", got)
	}
	testkit.Eventually(t, "the log has the chain", func() bool {
		return strings.Contains(f.Run("audit", "query", "--json", "--kind", "chain.result").Stdout, "chain.result")
	})
	if got := f.Run("audit", "replay", "--fail-on-diff"); got.Code != policy.ExitDiffers || !strings.Contains(got.Stdout, "would be deny by tried") {
		t.Errorf("replay: %+v", got)
	}
	if got := f.Run("validate", "tried"); got.Code != cli.ExitOK || !strings.HasPrefix(got.Stdout, "hook tried keeps the contract") {
		t.Errorf("validate: %+v", got)
	}
	if got := f.Run("auth", "add", "operator", "oscar"); got.Code != cli.ExitOK {
		t.Fatalf("auth add: %+v", got)
	}
	for _, who := range []string{"agent", "oscar"} {
		creds := filepath.Join(auth, "creds", who+".creds")
		if got := f.Run("validate", "tried", "--creds", creds); got.Code != cli.ExitDisconnected || !strings.Contains(got.Stderr, "only an admin may call hooks; `hookctl auth rotate NAME`") {
			t.Errorf("validate as %s: %+v", who, got)
		}
	}
	keeper, export := filepath.Join(auth, "creds", "keeper.creds"), filepath.Join(t.TempDir(), "log.jsonl")
	const advice = "`hookctl audit export FILE` as keeper"
	if got := f.Run("audit", "replay", "--creds", keeper); got.Code != cli.ExitDisconnected || !strings.Contains(got.Stderr, advice) {
		t.Errorf("replay as keeper: %+v", got)
	}
	admin := filepath.Join(auth, "creds", "admin.creds")
	if got := f.Run("audit", "replay", "--creds", admin); got.Code != cli.ExitDisconnected || !strings.Contains(got.Stderr, advice) {
		t.Errorf("replay as admin: %+v", got)
	}
	f.Run("audit", "export", export, "--creds", keeper, "--wait", "10ms") // the export lacks a checkpoint
	if _, err := os.Stat(export); err != nil {
		t.Fatal(err)
	}
	if got := f.Run("audit", "replay", "--creds", admin, "--export", export, "--fail-on-diff"); got.Code != policy.ExitDiffers {
		t.Errorf("replay of the export as admin: %+v", got)
	}
}
