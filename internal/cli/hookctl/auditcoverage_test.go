package hookctl_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	auditcli "github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/events"
)

func TestCoverageListsAgentsThatNeverAskBeforeATool(t *testing.T) {
	t.Parallel()
	f := clibus.New(t, hookctl.Run)
	emit := func(source, event string) {
		t.Helper()
		h := nats.Header{
			"ce-specversion": {"1.0"}, "ce-id": {events.NewID()}, "ce-source": {source}, "ce-type": {event}, "ce-subject": {"s1"},
		}
		subject := "hooks.emit." + strings.ReplaceAll(event, ":", ".")
		if _, err := f.NC.RequestMsgWithContext(t.Context(), &nats.Msg{Subject: subject, Header: h, Data: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	emit("/asks", "tool:pre")
	emit("/asks", "tool:post")
	emit("/never", "tool:post")
	emit("/never", "tool:post")
	emit("/never", "hook-agent:doctor") // from hookctl doctor, not from an agent
	emit("/tried", "hook-agent:doctor")

	got := f.Run("coverage", "--json")
	var doc auditcli.Coverage
	if err := json.Unmarshal([]byte(got.Stdout), &doc); err != nil || got.Code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}
	if len(doc.Agents) != 2 || doc.Ungated != 1 || doc.Unproven != 2 {
		t.Fatalf("%+v", doc)
	}
	if a := doc.Agents[0]; a.Agent != "/never" || a.Gated || a.Total != 2 || a.Events["tool:post"] != 2 || a.ToolPre != nil || a.Last.IsZero() || a.Proven {
		t.Errorf("the first agent is %+v", a)
	}
	if a := doc.Agents[1]; a.Agent != "/asks" || !a.Gated || a.Total != 2 || a.ToolPre == nil {
		t.Errorf("the second agent is %+v", a)
	}
	if got := f.Run("--text", "coverage"); !strings.Contains(got.Stdout, "\nnever ") || !strings.Contains(got.Stdout, "1 of 2 agents never emitted tool:pre") || !strings.Contains(got.Stdout, "unproven") {
		t.Errorf("people are shown %s", got.Stdout)
	}
	if got := f.Run("coverage", "--since", "2199-01-01", "--text"); !strings.Contains(got.Stdout, "No event is recorded since") && got.Code == 0 {
		t.Errorf("a time to come: %+v", got)
	}
}

// A sender that uses the name of a proven agent without being it has its own row.
func TestCoverageTellsProvenEmittersFromUnproven(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	for i, emitter := range []string{"nats agent/coder", "nats agent/rival", ""} {
		f.Write(audit.Record{
			Time: time.Now(), Kind: audit.ChainResult, ChainID: fmt.Sprint("c", i), Session: "s1", Event: "tool:pre", Action: "continue",
			Detail: audit.Chain{Agent: "/coder", Emitter: emitter},
		})
	}
	got := f.Run("coverage", "--json")
	var doc auditcli.Coverage
	if err := json.Unmarshal([]byte(got.Stdout), &doc); err != nil || got.Code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}
	if len(doc.Agents) != 3 || doc.Unproven != 1 {
		t.Fatalf("%+v", doc)
	}
	for i, want := range []string{"", "nats agent/coder", "nats agent/rival"} {
		if a := doc.Agents[i]; a.Agent != "/coder" || a.Emitter != want || a.Proven != (want != "") || a.Total != 1 {
			t.Errorf("agent %d is %+v", i, a)
		}
	}
	text := f.Run("coverage", "--text").Stdout
	if !strings.Contains(text, "nats agent/rival") || !strings.Contains(text, "1 of 3 agents are unproven") {
		t.Errorf("people are shown %s", text)
	}
}
