package dispatch_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/agenthook"
	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestUnknownEvents: what no hook waits for under this name is refused or logged.
func TestUnknownEvents(t *testing.T) {
	any, domain, own := reg("any", 0), reg("domain", 0), reg("own", 0)
	any.Events, domain.Events, own.Events, own.SessionID = []string{"*"}, []string{"build:*"}, []string{"mine"}, "s1"
	hooks := []hook{{Registration: reg("guard", 0)}, {Registration: any}, {Registration: domain}, {Registration: own}}
	probe, _ := agenthook.Dialect{}.Event(agenthook.Probe)
	for name, meant := range map[string]string{
		"tool:pre": "", "context:pre-compact": "", "error:tool": "", "build:x": "", "mine": "", // known
		probe.Name: "", agenthook.UncheckedEvent: "",
		"Tool:Pre": "tool:pre", "tool_pre": "tool:pre", "tool-pre": "tool:pre", "tool:pre:x": "tool:pre",
		"CONTEXT:PRE_COMPACT": "context:pre_compact", "deploy": "nothing", "tool": "nothing",
		"tool:pree": "tool:pre", "tol:post": "tool:post", "tool:pxe": "tool:pre",
	} {
		var log bytes.Buffer
		for mode, refused := range map[dispatch.UnknownEvents]bool{dispatch.DenyUnknown: true, dispatch.WarnUnknown: false, dispatch.AllowUnknown: false} {
			b := newBench(t, dispatch.Options{UnknownEvents: mode, Log: slog.New(slog.NewTextHandler(&log, nil))}, hooks...)
			for range 2 {
				_, err := b.Emit(t.Context(), request(t, name, `{"session_id":"s1"}`))
				switch {
				case !refused || meant == "":
					if err != nil {
						t.Errorf("%s, %s: %v", mode, name, err)
					}
				case wire.CodeOf(err) != wire.Malformed || strings.Contains(err.Error(), "did you mean "+meant+"?") == (meant == "nothing"):
					t.Errorf("%s, %s: %v; want code 400 and %s", mode, name, err, meant)
				}
			}
		}
		warned := strings.Count(log.String(), "unknown event")
		if want := map[bool]int{true: 0, false: 1}[meant == ""]; warned != want {
			t.Errorf("%s: %d lines of warning, want %d:\n%s", name, warned, want, log.String())
		}
		if guessed := meant != "" && meant != "nothing"; strings.Contains(log.String(), "did_you_mean") != guessed {
			t.Errorf("%s: want a guess: %v:\n%s", name, guessed, log.String())
		}
	}
}

// TestNamed tells hooks that name an event from those that wait for everything.
func TestNamed(t *testing.T) {
	any, domain := reg("any", 0), reg("domain", 0)
	any.Events, domain.Events, domain.SessionID = []string{"*"}, []string{"build:*"}, "s1"
	table := &chain.Table{}
	for _, r := range []chain.Registration{any, domain, reg("guard", 0)} {
		table = table.Apply(chain.Change{ID: r.ID, Entry: &chain.Entry{Registration: r}})
	}
	for _, c := range []struct {
		event, session string
		want           bool
	}{{"tool:pre", "", true}, {"tool:post", "", false}, {"build:x", "s1", true}, {"build:x", "s2", false}, {"build", "s1", false}} {
		if got := table.Named(c.event, c.session); got != c.want {
			t.Errorf("%s of session %q: named %v", c.event, c.session, got)
		}
	}
}
