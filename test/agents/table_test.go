package agents_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/test/agents"
)

// TestTable compares the agents with the tables of hook-agent: the pages of both say which
// version was tried, and what it does not honor.
func TestTable(t *testing.T) {
	for _, a := range agents.All() {
		d, ok := agenthook.Find(a.Name)
		if !ok || d.Tried != a.Version {
			t.Errorf("%s: the version here is %s, and hook-agent's table was tried with %q", a.Name, a.Version, d.Tried)
		}
		cannotInject, cannotModify, cannotRedact := false, false, false
		for _, e := range d.Events {
			if first := slices.IndexFunc(d.Events, func(other agenthook.Event) bool { return other.Name == e.Name }); d.Events[first].Native != e.Native {
				continue // the cases do not fire it
			}
			switch e.Name {
			case events.SessionStart, events.PromptSubmit, events.ToolPre, events.ToolPost:
				cannotInject = cannotInject || !e.Inject
			}
			cannotRedact = cannotRedact || e.Name == events.ToolPost && e.Modify == ""
			cannotModify = cannotModify || e.Name == events.ToolPre && e.Modify == ""
		}
		for name, want := range map[string]bool{agents.CaseInject: cannotInject, agents.CaseModify: cannotModify, agents.CaseRedact: cannotRedact} {
			if got := a.Cannot[name] != ""; got != want {
				t.Errorf("%s: the table here says that it cannot %q: %t; that of hook-agent: %t", a.Name, name, got, want)
			}
		}
		if !slices.ContainsFunc(a.Install, func(p string) bool { return strings.Contains(p, "VERSION") }) {
			t.Errorf("%s: no package is pinned: %v", a.Name, a.Install)
		}
		for _, p := range a.Install {
			if at := strings.LastIndex(p, "@"); at < 1 || !strings.ContainsAny(p[at:], "0123456789V") {
				t.Errorf("%s: %s names no version", a.Name, p)
			}
		}
	}
}

// TestSelect reads what AGENTS may say.
func TestSelect(t *testing.T) {
	if all, err := agents.Select("all"); err != nil || len(all) != len(agents.All()) {
		t.Errorf("all: %v %v", all, err)
	}
	if one, err := agents.Select("claude-code"); err != nil || len(one) != 1 || one[0].Name != "claude-code" {
		t.Errorf("one: %v %v", one, err)
	}
	if _, err := agents.Select("claude-code,clippy"); err == nil || !strings.Contains(err.Error(), `no agent "clippy": use all, or some of claude-code`) {
		t.Errorf("an unknown one: %v", err)
	}
}

// TestIsolation looks at the network from inside.
func TestIsolation(t *testing.T) {
	if i := (agents.Isolation{}); i.Isolated() || !slices.Equal(i.Command("a", "b"), []string{"a", "b"}) {
		t.Errorf("nothing isolates: %v", i.Command("a", "b"))
	}
	if !agents.Cut() {
		t.Skip("this process is not cut off: AGENTS names no agent, or this user may make no namespaces")
	}
	list, err := net.Interfaces()
	if err != nil || len(list) != 1 || list[0].Flags&net.FlagLoopback == 0 || list[0].Flags&net.FlagUp == 0 {
		t.Errorf("the network has %v: %v", list, err)
	}
}
