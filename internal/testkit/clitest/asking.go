package clitest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// Still is like [Settled], and also replaces the name of the user who runs the test.
func Still(text string) string { return Settled(strings.ReplaceAll(text, cli.OSUser(), "ME")) }

// Asking serves a hook that asks a person, and starts an execution for which it asks. It returns
// the id of the approval request.
func (f *Fixture) Asking(result chain.Result, args ...string) (*Background, string) {
	f.T.Helper()
	f.Hook(chain.Registration{ID: "ask", Name: "deploy-guard", Events: []string{"tool:pre"}}, Answering(result))
	return f.asked(args...)
}

// asked starts an execution for which a hook asks.
func (f *Fixture) asked(args ...string) (*Background, string) {
	f.T.Helper()
	b := f.Start(cli.Process{}, append([]string{"execute", "tool:pre", "--session", "s1"}, args...)...)
	line := b.Line()
	id := ApprovalID.FindString(line)
	if id == "" {
		f.T.Fatalf("line %q; want the id of an approval request", line)
	}
	return b, id
}

// See compares an outcome after [Still], ignoring surrounding blanks.
func (o Outcome) See(t *testing.T, code int, stdout string) {
	t.Helper()
	if o.Code != code {
		t.Errorf("exit code %d; want %d; stderr %s", o.Code, code, o.Stderr)
	}
	if diff := cmp.Diff(strings.TrimSpace(stdout), Still(o.Stdout)); diff != "" {
		t.Errorf("stdout (-want +got):\n%s", diff)
	}
}
