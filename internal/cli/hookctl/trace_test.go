package hookctl_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/hookctl"
	"github.com/hookrouter/hookrouter/internal/cli/trace"
	"github.com/hookrouter/hookrouter/internal/testkit/clibus"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestTraceFromTheAuditLog(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(3)
	f.Write(audit.Record{
		Time: clibus.Began.Add(3 * time.Second), Kind: audit.HookResult, ChainID: "chain-1", EventID: "event-chain-1", Event: "tool:pre", Session: "s1", Hook: "trial", Action: "deny",
		Detail: audit.Call{Shadow: true, Took: 2 * time.Second},
	})
	want := `
tool:pre  deny by no-rm
chain     chain-1
session   s1
began     2026-03-01 11:59:55.999Z
took      7001.0ms
from      the audit log

SPAN            TOOK                            WHAT
event tool:pre  7001.0ms  ████████████████████  deny by no-rm
  call cwd      0.4ms     ▏···················  modify
  call slow     5000.0ms  ██████████████······  FAILED timeout, let pass
  match lint    0.0ms     ··············▏·····  skipped
  call no-rm    0.5ms     ··············▏·····  deny
  call trial    2000.0ms  ··············██████  deny, mode shadow
`
	got := f.Run("trace", "--text", "chain-1")
	if diff := cmp.Diff(lines(want), lines(got.Stdout)); diff != "" || got.Code != cli.ExitOK {
		t.Errorf("code %d, -want +got:\n%s%s", got.Code, diff, got.Stderr)
	}
	var doc trace.Traced
	got = f.Run("trace", "chain-1")
	if err := json.Unmarshal([]byte(got.Stdout), &doc); err != nil || got.Code != cli.ExitOK {
		t.Fatalf("code %d, %v: %s%s", got.Code, err, got.Stdout, got.Stderr)
	}
	if doc.Source != "audit" || doc.ChainID != "chain-1" || len(doc.Spans) != 6 || doc.Micros != 7_001_000 {
		t.Errorf("%+v", doc)
	}
	slow := trace.TracedSpan{
		Depth: 1, Name: "call slow", Service: "hook-router", At: 400, Micros: 5_000_000, Error: "timeout",
		Tags: map[string]string{"hookrouter.hook.id": "slow", "hookrouter.failure": "timeout", "hookrouter.failed_open": "true", "span.kind": "client"},
	}
	if diff := cmp.Diff(slow, doc.Spans[2]); diff != "" {
		t.Error(diff)
	}
}

func TestTraceShowsTheWaitForAPerson(t *testing.T) {
	t.Parallel()
	f := clibus.NewAudit(t, hookctl.Run)
	base := audit.Record{Time: clibus.Began, ChainID: "c1", Session: "s1", Event: "tool:pre", EventID: "e1"}
	hop, asked, result, decided := base, base, base, base
	hop.Kind, hop.Hook, hop.Action, hop.Detail = audit.HookResult, "gate", "ask_user", audit.Call{Took: 3 * time.Millisecond}
	asked.Kind, asked.Hook, asked.Action = audit.ApprovalRequested, "gate", "requested"
	asked.Detail = audit.ApprovalRequest{ApprovalID: "q1", Prompt: "Deploy?", Options: []string{"Allow", "Deny"}, Default: "deny", Expires: clibus.Began.Add(5 * time.Minute), DataSHA256: "x"}
	joined := asked
	joined.Action = "joined" // the event was sent twice
	result.Kind, result.Action, result.Detail = audit.ChainResult, "pending", audit.Chain{ApprovalID: "q1", Called: 1, Took: 4 * time.Millisecond}
	decided.Time, decided.Kind, decided.Hook, decided.Action = clibus.Began.Add(42*time.Second), audit.ApprovalDecided, "gate", "allow"
	decided.Detail = audit.Decision{ApprovalID: "q1", Prompt: "Deploy?", Option: "Allow", Granted: true, DecidedBy: "user \x1b[2Jalice", DataSHA256: "x"}
	f.Write(hop, asked, result, joined)
	if got := f.Run("trace", "c1", "--text"); !strings.Contains(got.Stdout, "open") || !strings.Contains(got.Stdout, "not decided yet") {
		t.Errorf("%s%s", got.Stdout, got.Stderr)
	}
	f.Turn()
	f.Decide(1, decided) // in the next segment
	want := `
tool:pre  pending, then continue, decided by user ␛[2Jalice
chain     c1
session   s1
began     2026-03-01 11:59:59.996Z
took      42s
from      the audit log

SPAN             TOOK                         WHAT
event tool:pre   42s    ████████████████████  pending
  call gate      3.0ms  ▏···················  ask_user
  approval gate  42s    ████████████████████  continue, decided by user
                                              ␛[2Jalice
`
	got := f.Run("trace", "--text", "c1")
	if diff := cmp.Diff(lines(want), lines(got.Stdout)); diff != "" || got.Code != cli.ExitOK {
		t.Errorf("code %d, -want +got:\n%s%s", got.Code, diff, got.Stderr)
	}
}

func TestTraceSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[]}`) }))
	t.Cleanup(empty.Close)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>\x1b[2J") }))
	t.Cleanup(broken.Close)
	f := clibus.NewAudit(t, hookctl.Run)
	f.Fill(1)
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"trace":                                               {cli.ExitLocal, "give its id, or --trace-id"},
		"trace c1 --trace-id 0a":                              {cli.ExitLocal, "give its id, or --trace-id"},
		"trace --trace-id 0a":                                 {cli.ExitLocal, "say where it is with --jaeger"},
		"trace nothing":                                       {cli.ExitLocal, "the audit log has nothing on it"},
		"trace c1 --jaeger nohost":                            {cli.ExitLocal, "one such as http://127.0.0.1:16686 is needed"},
		"trace c1 --jaeger http://127.0.0.1:1":                {cli.ExitDisconnected, "use --jaeger= to read the audit log instead"},
		"trace c1 --jaeger " + empty.URL:                      {cli.ExitLocal, "Jaeger has no trace of it at " + empty.URL + ", under the service hook-router"},
		"trace c1 --service x --jaeger " + empty.URL:          {cli.ExitLocal, "under the service x"},
		"trace c1 --jaeger " + broken.URL:                     {cli.ExitLocal, "not an answer of Jaeger's API"},
		"trace --trace-id zz --jaeger " + empty.URL:           {cli.ExitLocal, "32 digits in hex are needed"},
		"trace chain-0 --jaeger= --json":                      {cli.ExitOK, ""},
		"trace chain-0 --server nats://127.0.0.1:1 --jaeger=": {cli.ExitDisconnected, ""},
	} {
		got := f.Run(strings.Fields(args)...)
		if got.Code != want.code || !strings.Contains(got.Stderr, want.says) || strings.Contains(got.Stderr, "\x1b") {
			t.Errorf("%s: code %d, %s", args, got.Code, got.Stderr)
		}
	}
}

// lines returns the lines of a text, without trailing blanks.
func lines(text string) []string {
	list := strings.Split(strings.TrimSpace(text), "\n")
	for i := range list {
		list[i] = strings.TrimRight(list[i], " ")
	}
	return list
}
