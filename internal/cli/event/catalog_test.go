package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/event"
	"github.com/hookrouter/hookrouter/internal/testkit/clitest"
)

func TestEventsNeedNoNATS(t *testing.T) {
	t.Parallel()
	f := &clitest.Fixture{T: t, Hookctl: hookctl}
	got := f.Run("events", "--text")
	if got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "\ntool:pre ") || !strings.Contains(got.Stdout, "Also error:tool.") {
		t.Errorf("exit code %d, stdout:\n%s\nwant the catalogue", got.Code, got.Stdout)
	}
	var list []event.EventInfo
	if err := json.Unmarshal([]byte(f.Run("--json", "events").Stdout), &list); err != nil || len(list) < 40 {
		t.Errorf("%d events, %v; want the catalogue as JSON", len(list), err)
	}
	var schema map[string]any
	if err := json.Unmarshal([]byte(f.Run("--json", "events", "error:tool").Stdout), &schema); err != nil || schema["title"] != "tool:error" {
		t.Errorf("%v, %v; want the schema of tool:error", schema, err)
	}
	if got := f.Run("events", "error:tool", "--text").Stdout; !strings.HasPrefix(got, "tool:error  ") || !strings.Contains(got, "also error:tool\n\nFIELD ") {
		t.Errorf("stdout:\n%s\nwant the fields of tool:error", got)
	}
}
