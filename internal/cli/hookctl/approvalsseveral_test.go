package hookctl_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// If several people must allow a request, it shows who has, who is missing and what a model says.
func TestWhoHasAllowedIsShown(t *testing.T) {
	t.Parallel()
	who, err := people.Parse("groups.yaml", []byte(`{people: {ann: {identities: [console ann]}, bob: {identities: [console bob]}}, models: [console gatekeeper],
  groups: {owners: [ann, bob]}, approvals: [{hook: ask, approvers: [{group: owners, count: 2}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := natstest.Listening(t)
	r, _ := routertest.Start(t, s, router.Options{People: who})
	f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"NATS_URL": s.ClientURL()}, NC: natstest.Conn(t, s)}
	b, id := f.Asking(chain.Question("Deploy?"), `{"tool_name":"Deploy"}`)
	see := func(want string, args ...string) {
		t.Helper()
		if got := f.Run(args...); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, want) {
			t.Errorf("%v: %+v; want %q", args, got, want)
		}
	}
	answer := func(by string, a approval.Answer) {
		t.Helper()
		if _, err := r.Approvals().Answer(t.Context(), id, a, by); err != nil {
			t.Fatalf("%s: %v", by, err)
		}
	}
	see("(0 of 2; needs 2 of owners) Deploy?", "approvals")
	watched := f.Start(cli.Process{}, "approvals", "watch", "--text", "--wide")
	heard := func(want string) {
		t.Helper()
		if line := watched.Line(); !strings.Contains(line, want) || !strings.Contains(line, id) {
			t.Errorf("the watch says %q; want %q", line, want)
		}
	}
	watched.Line() // that it is watching
	heard("(0 of 2; needs 2 of owners) Deploy?")
	if got := f.Run("approvals", "answer", id, "Allow"); got.Code == cli.ExitOK || !strings.Contains(got.Stderr, "does not count") {
		t.Errorf("nobody proven allows: %+v", got)
	}
	if got := f.Run("approvals", "answer", id, "Deny", "--pass"); got.Code != cli.ExitLocal || !strings.Contains(got.Stderr, "--pass") {
		t.Errorf("it passes on and decides: %+v", got)
	}
	if got := f.Run("approvals", "answer", id, "--pass", "--note", "fine"); got.Code == cli.ExitOK || !strings.Contains(got.Stderr, "not a known person") {
		t.Errorf("nobody proven passes it on: %+v", got)
	}
	answer("console gatekeeper", approval.Answer{Pass: true, Note: "a test machine\x1b[2J"})
	heard("(0 of 2; needs 2 of owners) Deploy?")
	answer("console ann", approval.Answer{Option: "Allow"})
	heard("(1 of 2: ann allowed; needs 1 of owners) Deploy?")
	see("(1 of 2: ann allowed; needs 1 of owners) Deploy?", "approvals")
	for _, want := range []string{"1 of 2: ann allowed; needs 1 of owners\n", "console gatekeeper (a model) passed it on: a test machine␛[2J", "ann allowed"} {
		see(want, "approvals", "show", id)
	}
	answer("console bob", approval.Answer{Option: "Allow"})
	if got := b.Line(); !strings.Contains(got, "continue") && !strings.Contains(got, "allowed") {
		t.Errorf("the agent got %s", got)
	}
	heard("Deploy?")
	see("console ann, console bob", "approvals", "show", id)
	for _, want := range []string{"ALLOWED", "granted (\"Allow\") by console bob", "console gatekeeper passed it on: a test machine␛[2J", "ann allowed"} {
		see(want, "why", id)
	}
}

// A rule in shadow is recorded only if it could answer. If several people must allow, no rule
// allows.
func TestNoRuleWouldAllowWhatSeveralMust(t *testing.T) {
	t.Parallel()
	who, err := people.Parse("groups.yaml", []byte(`{people: {ann: {identities: [console ann]}, bob: {identities: [console bob]}}, groups: {owners: [ann, bob]}, approvals: [{hook: ask, approvers: [{group: owners}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for decision, told := range map[string]bool{approval.DefaultAllow: false, approval.DefaultDeny: true} {
		s := natstest.Listening(t)
		routertest.Start(t, s, router.Options{People: who, Dispatch: dispatch.Options{Rules: approval.Rules{
			{Name: "in force", Decision: approval.DefaultAllow, Tool: "Deploy"},
			{Name: "tried", Decision: decision, Mode: approval.Shadow, Tool: "Deploy"},
		}}})
		f := &clitest.Fixture{T: t, Hookctl: hookctl.Run, Env: map[string]string{"NATS_URL": s.ClientURL()}, NC: natstest.Conn(t, s)}
		_, id := f.Asking(chain.Question("Deploy?"), `{"tool_name":"Deploy"}`)
		if got := f.Run("approvals", "show", id); got.Code != cli.ExitOK || strings.Contains(got.Stdout, "rule tried would "+decision) != told {
			t.Errorf("a rule in shadow that would %s: %+v", decision, got)
		}
	}
}
