package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

// recordSchemas are the schemas of the description by the kinds of records.
var recordSchemas = map[audit.Kind]string{
	audit.HookResult: "HookRecord", audit.HookError: "HookRecord", audit.HookTimeout: "HookRecord", audit.HookSkipped: "SkippedRecord",
	audit.InjectionKind: "InjectionRecord", audit.DisplayKind: "DisplayRecord", audit.ChainResult: "ChainRecord",
	audit.ApprovalRequested: "ApprovalRequestRecord", audit.ApprovalDecided: "DecisionRecord", audit.ApprovalReplayed: "ReplayRecord", audit.ApprovalRevealed: "RevealRecord", audit.ApprovalReviewed: "ReviewRecord", audit.FreezeKind: "FreezeRecord", audit.PolicyKind: "PolicyRecord", audit.IdentityKind: "IdentityRecord", audit.RegistrationKind: "RegistrationRecord",
	audit.LogKind: "NoteRecord", audit.ChainRefused: "NoteRecord", audit.ApprovalRevoked: "NoteRecord",
}

// checkRecords compares records on the wire with the schemas, until each of some kinds
// was among them.
func checkRecords(t *testing.T, plain map[string]any, messages <-chan *nats.Msg, wanted ...audit.Kind) {
	t.Helper()
	for len(wanted) > 0 {
		var m *nats.Msg
		select {
		case m = <-messages:
		case <-time.After(10 * time.Second):
			t.Fatalf("the router has not recorded %v", wanted)
		}
		lines, err := audit.Lines(m.Data)
		if err != nil {
			t.Fatalf("%s: %v", m.Subject, err)
		}
		for _, line := range lines {
			var record map[string]any
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			kind := audit.Kind(fmt.Sprint(record["kind"]))
			schema, known := recordSchemas[kind]
			if !known {
				t.Errorf("the kind %s is not described", kind)
			}
			for _, e := range conform(plain, map[string]any{"$ref": "#/components/schemas/" + schema}, record, string(kind)) {
				t.Errorf("%s: %s", e, line)
			}
			if subject := "hooks.audit.w." + fmt.Sprint(record["writer"]); subject != m.Subject {
				t.Errorf("a record of %s on %s", subject, m.Subject)
			}
			wanted = slices.DeleteFunc(wanted, func(k audit.Kind) bool { return k == kind })
		}
	}
}

// TestRecordsHaveTheMembersThatAreDescribed writes records in which every member is set,
// and compares them with the schemas, and with the tables of audit.md.
func TestRecordsHaveTheMembersThatAreDescribed(t *testing.T) {
	_, plain := loadAPI(t)
	_, table, _ := strings.Cut(read(t, "audit.md"), "\n## Records\n")
	table, _, _ = strings.Cut(table, "\n## ")
	properties := func(schema string) []string {
		at, _ := resolve(plain, "#/components/schemas/"+schema)
		return slices.Sorted(maps.Keys(at.(map[string]any)["properties"].(map[string]any)))
	}
	data := &audit.Data{SHA256: "x", Salt: "x", Value: json.RawMessage(`{}`), Redacted: true, Omitted: 1}
	hop := audit.Call{
		Reason: "x", Rule: "x", Policy: "x", Failure: "x", Error: "x", FailedOpen: true, Shadow: true, Start: time.Now(), Took: 1, Data: data, Changes: json.RawMessage(`[]`), Injection: data, Message: "x",
	}
	note := audit.Note{Reason: "x", Lost: 1}
	common := properties("AuditRecord")
	for kind, detail := range map[audit.Kind]audit.Detail{
		audit.HookResult: hop, audit.HookError: hop, audit.HookTimeout: hop, audit.HookSkipped: nil,
		audit.ChainResult: audit.Chain{
			Agent: "x", Emitter: "x", Reason: "x", DeniedBy: "x", ApprovalID: "x", Called: 1, Skipped: 1, Took: 1, In: data, Out: data,
		},
		audit.InjectionKind:     audit.Injection{Role: "x", Bytes: 1, Tokens: 1, Ephemeral: true, Dropped: "x", Cleaned: 1, Text: data},
		audit.DisplayKind:       audit.Display{Level: "x", Message: "x", Suppressed: true},
		audit.ApprovalRequested: audit.ApprovalRequest{ApprovalID: "x", Prompt: "x", Options: []string{"x"}, Default: "x", Expires: time.Now(), DataSHA256: "x", HookName: "x", ShadowRule: "x", ShadowDecision: "x"},
		audit.ApprovalDecided: audit.Decision{
			ApprovalID: "x", Prompt: "x", Option: "x", Granted: true, DecidedBy: "x", ClaimedBy: "x", Note: "x", TimedOut: true, Error: "x", DataSHA256: "x", ApprovedBy: []string{"x"}, Scope: "x", Expires: "x", Nonce: "x",
		},
		audit.ApprovalReplayed: audit.Replay{ApprovalID: "x", ChainID: "x", Emitter: "x", Reason: "x", DataSHA256: "x"},
		audit.PolicyKind:       audit.Policy{Version: "x", Was: "x", Use: "x", Commit: "x", By: "x"},
		audit.IdentityKind:     audit.Identity{Name: "x", Digest: "x", Identity: json.RawMessage(`{}`)},
		audit.ApprovalReviewed: audit.Review{ApprovalID: "x", By: "x", Person: "x", ClaimedBy: "x", Option: "x", Note: "x", DataSHA256: "x"},
		audit.ApprovalRevealed: audit.Reveal{ApprovalID: "x", By: "x", DataSHA256: "x"},
		audit.FreezeKind:       audit.Freeze{Scope: "x", Agent: "x", By: "x", Reason: "x"},
		audit.RegistrationKind: audit.Change{Revision: 1, By: "x", Instance: "x", Reason: "x", Registration: json.RawMessage(`{}`)},
		audit.LogKind:          note, audit.ChainRefused: note, audit.ApprovalRevoked: note,
	} {
		line := audit.Record{Time: time.Now(), Kind: kind, EventID: "x", Writer: "x", WSeq: 1, Detail: detail}.Append(nil)
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		described := append(properties(recordSchemas[kind]), common...)
		slices.Sort(described)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(record)), slices.Compact(described)); diff != "" {
			t.Errorf("%s: the code (-) and the description (+):\n%s", kind, diff)
		}
		row := rowOf(table, string(kind))
		if row == "" {
			t.Errorf("audit.md has no row for %s", kind)
		}
		for member := range record {
			if !slices.Contains(common, member) && !strings.Contains(row, "`"+member+"`") {
				t.Errorf("audit.md does not say that %s has the member %s", kind, member)
			}
		}
	}
	for _, member := range append(properties("AuditData"), common...) {
		if !strings.Contains(table, "`"+member+"`") {
			t.Errorf("audit.md does not tell of the member %s", member)
		}
	}
}

// rowOf is the row of a table whose first cell names a kind.
func rowOf(table, kind string) string {
	for line := range strings.SplitSeq(table, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 && strings.Contains(cells[1], "`"+kind+"`") {
			return line
		}
	}
	return ""
}
