package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/flowguard"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/test/agents"
)

// TestASecretOfOneAgentStopsTheNext has an agent of one vendor read a secret, and then the
// agent of another, below it, send something out. Both have the identity of the same program.
func TestASecretOfOneAgentStopsTheNext(t *testing.T) {
	chosen, err := agents.Select(os.Getenv("AGENTS"))
	if err != nil || len(chosen) < 2 {
		t.Skip("AGENTS names less than two agents")
	}
	r := newRouter(t)
	flow, err := flowguard.New(kind.Section{}, flowguard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.hook(flow.Handler)

	before := newLabAt(t, r, chosen[1], scenario{command: "git push marker; echo sent > marker"})
	before.finishes()
	before.ran("sent") // nobody has read a secret

	reader := newLabAt(t, r, chosen[0], scenario{command: "cat .env; echo read > marker"})
	if err := os.WriteFile(filepath.Join(reader.run.Dir, ".env"), []byte("KEY=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader.finishes()
	reader.ran("read")

	sender := newLabAt(t, r, chosen[1], scenario{command: "git push marker; echo sent > marker"})
	sender.finishes()
	sender.ran("")
	sender.told("has read a secret (secret-read)")
	if why := r.why(); !strings.Contains(why, "secret-read") || !strings.Contains(why, chosen[1].Name) {
		t.Errorf("hookctl why:\n%s", why)
	}
}

// why is what hookctl says of the last denial.
func (r *router) why() string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), testkit.Program(r.t, "hookctl"), "why", "--server="+r.url(), "--creds="+r.creds("keeper"))
	cmd.Env = []string{"HOME=" + r.dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("hookctl why: %v\n%s", err, out)
	}
	return string(out)
}
