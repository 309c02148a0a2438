package agents_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit/natstest"
	"github.com/hookrouter/hookrouter/internal/testkit/routertest"
)

// A version of the agent that would run no hook, or that lacks a gated event, is reported.
func TestAnOldAgentIsReported(t *testing.T) {
	t.Parallel()
	s := natstest.Listening(t)
	routertest.Start(t, s, router.Options{})
	const (
		runsNone = "runs no hooks if the settings name an event that it does not know"
		lacksOne = "does not know, and so does not gate: PreSkillShellCommand (from 2.1.332 on)"
		goesOn   = "goes on if the process that it started is killed (until 2.1.295)"
	)
	for version, c := range map[string]struct {
		code        int
		state, want string // of doctor; connect says the same
	}{
		"2.1.97 (Claude Code)":  {1, "fail", "Claude Code 2.1.97 " + runsNone},
		"2.1.101 (Claude Code)": {0, "note", "Claude Code 2.1.101 " + goesOn + "; Claude Code 2.1.101 " + lacksOne},
		"2.1.295 (Claude Code)": {0, "note", "Claude Code 2.1.295 " + lacksOne},
		"2.1.332 (Claude Code)": {0, "", ""},
		"no number":             {0, "", ""},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			m := asking(t, s.ClientURL())
			if err := os.Chmod(m.write("bin/claude", "#!/bin/sh\n[ \"$1\" = --version ] && echo '"+version+"'\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			told := strings.Join(strings.Fields(m.connect("claude-code")), " ")
			code, list := m.doctor("claude-code")
			if code != c.code {
				t.Errorf("exit code %d, want %d: %+v", code, c.code, list)
			}
			if c.want == "" {
				if all := told + texts(list, "fail") + texts(list, "note"); strings.Contains(all, runsNone) || strings.Contains(all, "so does not gate") {
					t.Errorf("it says %s", all)
				}
				return
			}
			if !strings.Contains(texts(list, c.state), c.want) || !strings.Contains(told, c.want) {
				t.Errorf("nothing says %q in\n%s%s", c.want, texts(list, c.state), told)
			}
		})
	}
}
