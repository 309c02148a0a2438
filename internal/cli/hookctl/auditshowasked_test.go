package hookctl_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// The final answer to the agent comes first, and no data is shown as sent that nobody allowed.
func TestAuditShowSaysHowTheQuestionEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision *audit.Decision
		head     string
		out      string
	}{
		"nobody yet":        {nil, "pending: it waits for a person", "nothing yet: it waits for a person"},
		"the time was over": {&audit.Decision{DecidedBy: "timeout", TimedOut: true}, "denied: nobody answered in time", "nothing: it was denied"},
		"a denial":          {&audit.Decision{DecidedBy: "user ann", Option: "Deny"}, "denied by user ann", "nothing: it was denied"},
		"a permission":      {&audit.Decision{DecidedBy: "user ann", Option: "Allow", Granted: true}, "granted by user ann", "the data as it came in, but for\n- b: 2\n+ b: 3"},
	} {
		f := clibus.NewAudit(t, hookctl.Run)
		base := audit.Record{Time: clibus.Began, ChainID: "c1", Session: "s1", Event: "tool:pre", EventID: "e1"}
		asked, result := base, base
		asked.Kind, asked.Hook, asked.Action = audit.ApprovalRequested, "gate", "requested"
		asked.Detail = audit.ApprovalRequest{ApprovalID: "q1", Prompt: "Deploy?", Options: []string{"Allow", "Deny"}, Default: "deny", Expires: clibus.Began.Add(5 * time.Minute), DataSHA256: "x"}
		result.Kind, result.Action = audit.ChainResult, "pending"
		result.Detail = audit.Chain{ApprovalID: "q1", In: &audit.Data{Value: json.RawMessage(`{"b":2}`)}, Out: &audit.Data{Value: json.RawMessage(`{"b":3}`)}}
		f.Write(asked, result)
		if c.decision != nil {
			decided := base
			decided.Time, decided.Kind, decided.Action = clibus.Began.Add(5*time.Minute), audit.ApprovalDecided, "deny"
			c.decision.ApprovalID = "q1"
			decided.Detail = *c.decision
			f.Decide(1, decided)
		}
		got := f.Run("audit", "show", "c1", "--text")
		if !strings.HasPrefix(got.Stdout, "tool:pre  "+c.head+"\n") || !strings.HasSuffix(got.Stdout, "\nwent out\n"+c.out+"\n") {
			t.Errorf("%s: %s%s", name, got.Stdout, got.Stderr)
		}
	}
}

// A large edit is shown as a diff here too, not as two lines of thousands of columns.
func TestAuditShowHasDiffsOfEdits(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 120 {
		fmt.Fprintf(&before, "replicas[%d] = %d\n", i, i)
		fmt.Fprintf(&after, "replicas[%d] = %d\n", i, i+i/119)
	}
	data, err := json.Marshal(map[string]any{"tool_name": "Edit", "tool_input": map[string]string{"file_path": "/srv/r.toml", "old_string": before.String(), "new_string": after.String()}})
	if err != nil {
		t.Fatal(err)
	}
	f := clibus.NewAudit(t, hookctl.Run)
	base := audit.Record{Time: clibus.Began, ChainID: "c1", Event: "tool:pre", EventID: "e1"}
	call, result := base, base
	call.Kind, call.Hook, call.Action = audit.HookResult, "header", "modify"
	call.Detail = audit.Call{Changes: json.RawMessage(`[{"op":"add","path":"/note","value":"one\ntwo\n"},{"op":"replace","path":"/token","old":"[REDACTED:key]","value":"[REDACTED:key]"}]`)}
	result.Kind, result.Action, result.Detail = audit.ChainResult, "continue", audit.Chain{In: &audit.Data{Value: data}}
	f.Write(call, result)
	got := f.Run("audit", "show", "c1", "--text")
	for _, want := range []string{
		"\nfile_path: /srv/r.toml\ntool_name: Edit\nold_string → new_string: 1 line removed, 1 added\n@ line 117\n",
		"\n- replicas[119] = 119\n+ replicas[119] = 120\n",
		"\n      + note:\n      +   one\n      +   two\n      token: a secret was replaced; both values are masked\n",
	} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("no %q in\n%s%s", want, got.Stdout, got.Stderr)
		}
	}
	for line := range strings.Lines(got.Stdout) {
		if ansi.StringWidth(line) > 80 || strings.Contains(line, `\n`) {
			t.Errorf("a line of %d columns: %.200s", ansi.StringWidth(line), line)
		}
	}
}
