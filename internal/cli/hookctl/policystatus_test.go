package hookctl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// A guard without a worker denies: status names it, and the version that it ran last.
func TestTheStatusNamesWhatIsNotLive(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	version := "production@3 sha256:3b9d3c27" + strings.Repeat("0", 56)
	client, err := hookrouter.Connect(t.Context(), hookrouter.Options{Conn: f.NC})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for id, policy := range map[string]string{"guard": version, "plain": ""} {
		reg := chain.Registration{ID: id, Events: []string{"e"}, OnFailure: chain.FailClosed}
		if _, err := w.Register(t.Context(), reg, clitest.Answering(chain.Result{Action: chain.Continue, Policy: policy})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Register(t.Context(), chain.Registration{ID: "unused", Events: []string{"other"}, OnFailure: chain.FailClosed}, clitest.Answering(chain.Result{})); err != nil {
		t.Fatal(err)
	}
	if got := f.Run("emit", "e"); got.Code != cli.ExitOK {
		t.Fatalf("emit: %+v", got)
	}
	if got := f.Run("policy", "status", "--text", "--wait", "20ms"); strings.Contains(got.Stdout, "not live") {
		t.Errorf("while all are live: %+v", got)
	}
	if err := w.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	var said string
	testkit.Eventually(t, "the status names the guard", func() bool {
		got := f.Run("policy", "status", "--text", "--wait", "20ms")
		said = strings.Join(strings.Fields(got.Stdout), " ")
		return strings.Contains(said, "guard production@3 3b9d3c27 20")
	})
	if !strings.HasPrefix(said, "no worker that follows a policy answers not live: no worker serves these registered hooks HOOK ") ||
		!strings.Contains(said, "unused not known -") || strings.Contains(said, "plain") {
		t.Errorf("the status is %s", said)
	}
	got := f.Run("policy", "status", "--wait", "20ms", "production")
	if !strings.Contains(got.Stdout, `{"live":false,"hook":"guard","name":"production","policy":"`+version+`","last":"`) || strings.Contains(got.Stdout, "unused") {
		t.Errorf("JSON of production: %+v", got)
	}
	if got := f.Run("policy", "status", "--wait", "20ms", "staging"); got.Stdout != "[]\n" {
		t.Errorf("JSON of staging: %+v", got)
	}
}
