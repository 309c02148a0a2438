package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/guards/flowguard"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
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

// TestASecretStopsTheSubAgentOfAnotherVendor has an agent read a secret and start one of
// another vendor in its shell, which has an identity of its own.
func TestASecretStopsTheSubAgentOfAnotherVendor(t *testing.T) {
	chosen, err := agents.Select(os.Getenv("AGENTS"))
	if err != nil || len(chosen) < 2 {
		t.Skip("AGENTS names less than two agents")
	}
	if d, _ := agenthook.Find(chosen[0].Name); d.SessionEnv == "" {
		t.Skipf("%s does not tell its tools which session they belong to", d.Agent)
	}
	r := newRouter(t)
	flow, err := flowguard.New(kind.Section{}, flowguard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.hook(flow.Handler)
	r.identity("below")

	sends := scenario{command: "git push marker; echo sent > marker", identity: "below"}
	before := newLabAt(t, r, chosen[1], sends)
	before.finishes()
	before.ran("sent") // its own identity has read nothing

	below := newLabAt(t, r, chosen[1], sends)
	above := newLabAt(t, r, chosen[0], scenario{command: "cat .env", next: []string{below.script() + "; echo ended > marker"}})
	if err := os.WriteFile(filepath.Join(above.run.Dir, ".env"), []byte("KEY=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	person, ctx := approver.New(r.client("admin")), testkit.Within(t, limit)
	done := above.start()
	q := r.asked(ctx, person) // nobody knows what a script sends
	if _, err := person.Answer(ctx, q.ID, approval.Answer{Option: "Allow once", By: "ann", DataSHA256: q.DataSHA256}); err != nil {
		t.Fatal(err)
	}
	if o := above.ended(done); o.err != nil {
		t.Errorf("%s ended with %v", chosen[0].Name, o.err)
	}
	above.ran("ended")
	below.ran("")
	below.told("has read a secret (secret-read)")
	if why := r.why(); !strings.Contains(why, "secret-read") || !strings.Contains(why, chosen[1].Name) {
		t.Errorf("hookctl why:\n%s", why)
	}
}

// identity makes another agent at the router's authority.
func (r *router) identity(name string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), testkit.Program(r.t, "hookctl"), "auth", "add", "agent", name, "--server="+r.url(), "--dir="+filepath.Join(r.dir, "store", "auth"))
	cmd.Env = []string{"HOME=" + r.dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("hookctl auth add: %v\n%s", err, out)
	}
}

// script is a file that runs the agent, in the environment of whoever runs the file.
func (l *lab) script() string {
	l.t.Helper()
	cmd := l.agent.Command(l.t.Context(), l.installed, l.run)
	words := append(append([]string{"env"}, cmd.Env...), cmd.Args...)
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	file := filepath.Join(l.run.Home, "run.sh")
	if err := os.WriteFile(file, []byte("cd '"+l.run.Dir+"' && "+strings.Join(words, " ")+" < /dev/null > /dev/null 2>&1\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return "sh " + file
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
