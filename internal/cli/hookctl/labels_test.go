package hookctl_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// The labels of a session, the hook that gave each, and the labels that a person removed are shown.
func TestLabelsAreShown(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	f.Hook(chain.Registration{ID: "marks", Events: []string{"tool:post"}}, clitest.Answering(chain.Result{Action: chain.Continue, Labels: []string{"secret-read"}}))
	f.Run("execute", "tool:post", "--session", "s1")
	if got := f.Run("--text", "session", "show", "s1"); !strings.Contains(got.Stdout, "labels         secret-read") {
		t.Errorf("session show: %+v", got)
	}
	for _, command := range []string{"execute", "emit"} {
		if got := f.Run("--text", command, "tool:post", "--session", "s0"); !strings.Contains(strings.Join(strings.Fields(got.Stdout), " "), "labels secret-read by marks hooks 1 called") {
			t.Errorf("%s: %+v", command, got)
		}
		if got := f.Run(command, "tool:post", "--session", "s0"); strings.Contains(got.Stdout, "secret-read") {
			t.Errorf("%s tells a program the labels: %+v", command, got)
		}
	}
	f.Hook(chain.Registration{ID: "ask", Events: []string{"tool:pre"}}, func(context.Context, worker.Event) (worker.Result, error) {
		r := chain.Question("Deploy?")
		r.Unlabel = []string{"secret-read"}
		return r, nil
	})
	b := f.Start(cli.Process{}, "execute", "tool:pre", "--session", "s1")
	id := clitest.ApprovalID.FindString(b.Line())
	if got := f.Run("--text", "approvals", "show", id); !strings.Contains(got.Stdout, "\nlabels   secret-read\n") {
		t.Errorf("approvals show: %+v", got)
	}
	if got := f.Run("approvals", "answer", id, "Allow"); got.Code != cli.ExitOK {
		t.Errorf("%+v", got)
	}
	if code := <-b.Code; code != cli.ExitOK {
		t.Errorf("code %d: %s", code, b.Rest())
	}
	if got := f.Run("--text", "why", id); !strings.Contains(got.Stdout, "\nremoved  secret-read\n") {
		t.Errorf("why: %+v", got)
	}
	got := f.Run("--text", "audit", "query", "--session", "s1")
	lines := strings.Join(strings.Fields(got.Stdout), " ") // folded
	for _, want := range []string{
		`marks continue labels secret-read; `, `tool:pre s1 - pending approval \w+; labels secret-read; `,
		`ask removed secret-read; approval \w+; by unauthenticated `,
	} {
		if !regexp.MustCompile(want).MatchString(lines) {
			t.Errorf("audit query has no %q:\n%s", want, got.Stdout)
		}
	}
	chains := regexp.MustCompile(`chain ([0-9a-f-]{36})`).FindAllStringSubmatch(lines, -1) // newest first
	if got := f.Run("--text", "audit", "show", chains[len(chains)-1][1]); !strings.Contains(got.Stdout, "marks  continue  labels secret-read") {
		t.Errorf("audit show: %+v", got)
	}
	f.Run("execute", "tool:post", "--session", "s2")
	again := f.Start(cli.Process{}, "execute", "tool:pre", "--session", "s2")
	other := clitest.ApprovalID.FindString(again.Line())
	f.Run("execute", "tool:post", "--session", "s2")
	f.Run("approvals", "answer", other, "Allow")
	<-again.Code
	if got := f.Run("--text", "why", other); !strings.Contains(got.Stdout, "\nkept     secret-read: earned again after the question\n") {
		t.Errorf("why: %+v", got)
	}
	if got := f.Run("--text", "audit", "query", "--kind", "registration"); strings.Contains(got.Stdout, "revision 0") {
		t.Errorf("a registration has no revision yet:\n%s", got.Stdout)
	}
}
