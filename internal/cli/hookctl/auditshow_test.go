package hookctl_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli"
	auditcli "github.com/hookrouter/hookrouter/internal/cli/audit"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/cli/jsonedit"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestAuditShowTellsTheStory(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(3)
	late := audit.Record{
		Time: clibus.Began, Kind: audit.HookResult, ChainID: "chain-1", EventID: "event-chain-1", Event: "tool:pre", Session: "s1", Hook: "trial", Action: "deny",
		Detail: audit.Call{Shadow: true, Reason: "would not have it", Took: time.Millisecond},
	}
	f.Write(late)
	want := `
tool:pre     deny by no-rm: rm is not for agents
FAILED OPEN  slow: failed and let pass
chain        chain-1
event        event-chain-1
session      s1
agent        agents/a
took         5001.0ms, 3 hooks called, 1 skipped
recorded     2026-03-01 12:00:01.000Z, at 2:5 of HOOKS_AUDIT

came in
tool_name: Bash
command: rm -rf /

hooks
 1  cwd  modify  0.4ms
      + tool_input.cwd: "/srv"
 2  slow  FAILED OPEN  timeout: no answer within 5s  5000.0ms
 3  lint  skipped  its match was false
 4  no-rm  deny  rm is not for agents  0.5ms
 5  trial  would deny  would not have it  1.0ms

for the agent and its user
dropped   system, 9 bytes, 3 tokens from memory: budget

went out
nothing: it was denied
`
	for _, args := range [][]string{{"chain-1"}, {"--event-id", "event-chain-1"}} {
		got := f.Run(append([]string{"audit", "show", "--text", "--wide"}, args...)...)
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got.Stdout)); diff != "" || got.Code != cli.ExitOK {
			t.Errorf("%v: code %d, -want +got:\n%s%s", args, got.Code, diff, got.Stderr)
		}
	}
}

func TestAuditShowFollowsTheQuestionToItsDecision(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	base := audit.Record{Time: clibus.Began, ChainID: "c1", Session: "s1", Event: "tool:pre", EventID: "e1"}
	asked, result, decided := base, base, base
	asked.Kind, asked.Hook, asked.Action = audit.ApprovalRequested, "gate", "requested"
	asked.Detail = audit.ApprovalRequest{ApprovalID: "q1", Prompt: "Deploy?", Options: []string{"Allow", "Deny"}, Default: "deny", Expires: clibus.Began.Add(5 * time.Minute), DataSHA256: "x"}
	result.Kind, result.Action = audit.ChainResult, "pending"
	data := json.RawMessage(`{"a":1,"b":2}`)
	result.Detail = audit.Chain{ApprovalID: "q1", Called: 1, In: &audit.Data{SHA256: "x", Value: data}, Out: &audit.Data{SHA256: "y", Value: json.RawMessage(`{"a":1,"b":3}`), Redacted: true}}
	decided.Time, decided.Kind, decided.Hook, decided.Action = clibus.Began.Add(42*time.Second), audit.ApprovalDecided, "gate", "allow"
	decided.Detail = audit.Decision{ApprovalID: "q1", Prompt: "Deploy?", Option: "Allow always", Granted: true, DecidedBy: "user alice", ClaimedBy: "bob", Note: "fine", DataSHA256: "x", Scope: "lineage", Expires: "2026-03-02T12:00:00Z"}
	f.Write(asked, result)

	if got := f.Run("audit", "show", "c1", "--text"); !strings.Contains(got.Stdout, "not decided yet") {
		t.Errorf("%s%s", got.Stdout, got.Stderr)
	}
	f.Turn()
	f.Decide(1, decided) // in the next segment
	for _, args := range [][]string{{"c1"}, {"--approval", "q1"}} {
		got := f.Run(append([]string{"audit", "show", "--text", "--wide"}, args...)...)
		for _, want := range []string{
			"2026-03-01 12:00:00.000Z  by gate: Allow | Deny; until 2026-03-01 12:05:00.000Z, then deny",
			`2026-03-01 12:00:42.000Z  granted by user alice, "Allow always" for the lineage until 2026-03-02T12:00:00.000Z, who claims to be bob, after 42s; note: fine`,
			"the data as it came in, but for\n- b: 2\n+ b: 3",
		} {
			if !strings.Contains(got.Stdout, want) {
				t.Errorf("%v: no %q in\n%s%s", args, want, got.Stdout, got.Stderr)
			}
		}
	}
	var s struct {
		Action    string
		Approvals []struct {
			Granted   bool
			DecidedBy string `json:"decided_by"`
		}
		Changes []jsonedit.Change
		Records []struct{ Place string }
	}
	got := f.Run("audit", "show", "c1")
	if err := json.Unmarshal([]byte(got.Stdout), &s); err != nil {
		t.Fatal(err, got)
	}
	if s.Action != "pending" || len(s.Approvals) != 1 || !s.Approvals[0].Granted || s.Approvals[0].DecidedBy != "user alice" ||
		len(s.Changes) != 1 || len(s.Records) != 3 || s.Records[2].Place != "2/1:0" {
		t.Errorf("%+v", s)
	}
}

func TestAuditShowFindsChainsOfAnotherClock(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	const id = "ffffffff-ffff-7000-8000-000000000000" // from a clock that is far ahead
	f.Write(clibus.ChainOf(id, "s1", clibus.Began)...)
	if got := f.Run("audit", "show", id, "--text"); got.Code != cli.ExitOK || !strings.Contains(got.Stdout, "deny by no-rm") {
		t.Errorf("code %d: %s%s", got.Code, got.Stdout, got.Stderr)
	}
}

func TestAuditShowSaysWhatItCannotShow(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Write(
		audit.Record{Time: clibus.Began, Kind: audit.HookResult, ChainID: "refused", Hook: "h", Action: "modify", Detail: audit.Call{Data: &audit.Data{SHA256: "d1"}}},
		audit.Record{Time: clibus.Began, Kind: audit.ChainRefused, ChainID: "refused", Action: "continue", Detail: audit.Chain{In: &audit.Data{SHA256: "d0"}}},
	)
	for args, want := range map[string][]string{
		"refused":        {"REFUSED: the log had not taken the records", "only a digest is recorded: sha256 d0", "changed the data; what, is not recorded: sha256 d1"},
		"missing":        {"show missing: the audit log has nothing on it"},
		"--approval q.>": {"nothing on it"},
		"":               {"show which chain"},
		"a --approval b": {"show which chain"},
	} {
		got := f.Run(append([]string{"audit", "show", "--text", "--wide"}, strings.Fields(args)...)...)
		for _, text := range want {
			if !strings.Contains(got.Stdout+got.Stderr, text) {
				t.Errorf("%s: no %q in %s%s", args, text, got.Stdout, got.Stderr)
			}
		}
	}
}

func TestAuditStatsCounts(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(2)
	f.Turn()
	f.Write(
		audit.Record{Time: clibus.Began, Kind: audit.ChainRefused, ChainID: "x", Event: "tool:pre"},
		audit.Record{Time: clibus.Began, Kind: audit.LogKind, Action: "lost", Detail: audit.Note{Lost: 7}},
		audit.Record{Time: clibus.Began, Kind: audit.ApprovalRequested, ChainID: "x", Action: "requested", Detail: audit.ApprovalRequest{ApprovalID: "q1"}},
	)
	for id, d := range map[string]audit.Decision{
		"q1": {DecidedBy: "rule nightly", Granted: true}, "q2": {DecidedBy: "timeout", TimedOut: true},
		"q3": {DecidedBy: "alice", Granted: true}, "q4": {DecidedBy: "unauthenticated"}, "q5": {DecidedBy: "alice", Error: "x"},
	} {
		d.ApprovalID = id
		f.Decide(2, audit.Record{Time: clibus.Began, Kind: audit.ApprovalDecided, Detail: d})
	}
	got := f.Run("audit", "stats")
	var s auditcli.Stats
	if err := json.Unmarshal([]byte(got.Stdout), &s); err != nil {
		t.Fatal(err, got)
	}
	if s.Records != 20 || s.Chains["deny"] != 2 || s.Refused != 1 || s.FailedOpen != 2 || s.Failures["timeout"] != 2 || s.Lost != 7 || s.Asked != 1 || s.Granted != 2 {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff(map[string]int{"rule": 1, "timeout": 1, "person": 1, "unauthenticated": 1, "error": 1}, s.Decided); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(auditcli.HookCount{Event: "tool:pre", Hook: "slow", Action: "continue", Count: 2, Failed: 2, FailedOpen: 2}, s.Hooks[3]); diff != "" {
		t.Error(diff)
	}
	if len(s.Segments) != 2 || !s.Segments[0].Sealed || s.Segments[0].Size != 2 || s.Segments[1].Size != 0 || s.Segments[1].Messages != 6 {
		t.Errorf("%+v", s.Segments)
	}
	text := f.Run("audit", "stats", "--text", "--wide").Stdout
	for _, want := range []string{"FAILED OPEN  2", "5 decided", "over all", "none"} {
		if want == "5 decided" {
			want = "1 asked; decided by 1 error, 1 person, 1 rule, 1 timeout, 1 unauthenticated; 2 granted"
		}
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if got := f.Run("audit", "stats", "--since", "1h"); !strings.Contains(got.Stdout, `"records":0`) {
		t.Error(got.Stdout)
	}
}

// A replaced secret is masked before and after, so the input may differ from the output.
func TestShowSaysThatMaskedSecretsMayHaveChanged(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	masked := func(b string) *audit.Data {
		return &audit.Data{Value: json.RawMessage(`{"password":"[REDACTED:key]","b":` + b + `}`), Redacted: true}
	}
	f.Write(audit.Record{
		Time: clibus.Began, Kind: audit.ChainResult, ChainID: "c1", Event: "tool:pre", Action: "continue", Detail: audit.Chain{In: masked("1"), Out: masked("2")},
	})
	got := f.Run("audit", "show", "c1", "--text", "--wide")
	if !strings.HasSuffix(strings.TrimSpace(got.Stdout), "+ b: 2\nsecrets in it were masked before it was recorded: a change of one does not show here") {
		t.Errorf("%+v", got)
	}
}
