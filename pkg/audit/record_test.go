package audit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/audit"
)

func TestRecordsAreLinesOfTheLog(t *testing.T) {
	data := &audit.Data{SHA256: "ab", Salt: "s", Value: json.RawMessage("{\n\t\"n\": 9007199254740993\r\n}"), Redacted: true}
	for name, c := range map[string]struct {
		detail audit.Detail
		want   string
	}{
		"nothing": {nil, ``},
		"a hop": {
			audit.Call{
				Reason: "no\nsuch", Failure: "timeout", Error: "e", FailedOpen: true, Shadow: true, Took: time.Millisecond, Data: data, Changes: json.RawMessage(`[]`),
				Injection: &audit.Data{SHA256: "ef", Omitted: 7}, Message: "hi",
			},
			`,"reason":"no\nsuch","failure":"timeout","error":"e","failed_open":true,"shadow":true,"us":1000,"data":{"sha256":"ab","salt":"s","value":{"n":9007199254740993},"redacted":true},"changes":[],"injection":{"sha256":"ef","omitted":7},"message":"hi"`,
		},
		"a hop without anything": {audit.Call{}, `,"us":0`},
		"JSON that is none":      {audit.Call{Changes: json.RawMessage("[\n")}, `,"us":0,"changes":"[\n"`},
		"a chain": {
			audit.Chain{Agent: "a", Emitter: "nats T/a", Reason: "r", DeniedBy: "guard", ApprovalID: "q", Called: 2, Skipped: 1, Took: time.Second, In: data, Out: &audit.Data{SHA256: "cd"}},
			`,"agent":"a","emitter":"nats T/a","reason":"r","denied_by":"guard","approval_id":"q","called":2,"skipped":1,"us":1000000,"in":{"sha256":"ab","salt":"s","value":{"n":9007199254740993},"redacted":true},"out":{"sha256":"cd"}`,
		},
		"an injection": {
			audit.Injection{Role: "system", Bytes: 4, Tokens: 1, Ephemeral: true, Dropped: "budget", Cleaned: 2, Text: &audit.Data{Value: json.RawMessage(`"text"`)}},
			`,"role":"system","bytes":4,"tokens":1,"ephemeral":true,"dropped":"budget","cleaned":2,"text":{"value":"text"}`,
		},
		"an approval request": {
			audit.ApprovalRequest{ApprovalID: "q", Prompt: "Deploy?", Options: []string{"Allow", "Deny"}, Default: "deny", Expires: start, DataSHA256: "ab"},
			`,"approval_id":"q","prompt":"Deploy?","options":["Allow","Deny"],"default":"deny","expires":"2026-03-01T12:00:00.000Z","data_sha256":"ab"`,
		},
		"a decision": {
			audit.Decision{ApprovalID: "q", Prompt: "Deploy?", Option: "Allow", Granted: true, DecidedBy: "nats:alice", ClaimedBy: "Alice", Note: "n", TimedOut: true, Error: "e", DataSHA256: "ab", Nonce: "x"},
			`,"approval_id":"q","prompt":"Deploy?","option":"Allow","granted":true,"decided_by":"nats:alice","claimed_by":"Alice","note":"n","timed_out":true,"error":"e","data_sha256":"ab","nonce":"x"`,
		},
		"a note":         {audit.Note{Reason: "r", Lost: 2}, `,"reason":"r","lost":2`},
		"a display":      {audit.Display{Level: "info", Message: "hi", Suppressed: true}, `,"level":"info","message":"hi","suppressed":true`},
		"a registration": {audit.Change{Revision: 7, By: "b", Instance: "i", Reason: "r", Registration: json.RawMessage(`{}`)}, `,"revision":7,"by":"b","instance":"i","reason":"r","registration":{}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(audit.Record{
				Time: start.In(time.FixedZone("", 3600)), Kind: audit.HookResult, ChainID: "c", Session: "s", Event: "tool:pre", Hook: "h", Action: "deny",
				EventID: "e", Writer: "w", WSeq: 1, Detail: c.detail,
			}.Append([]byte("before ")))
			want := `before {"time":"2026-03-01T12:00:00.000Z","kind":"hook.result","chain_id":"c","session_id":"s","event":"tool:pre","hook":"h","action":"deny",` +
				`"event_id":"e"` + c.want + `,"writer":"w","wseq":1}` + "\n"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			if err := audit.CheckLine([]byte(strings.TrimSuffix(strings.TrimPrefix(got, "before "), "\n"))); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNumberedLinesAreThoseOfTheirWriter(t *testing.T) {
	record := audit.Record{Time: start, Kind: audit.HookResult, Action: "deny", Detail: audit.Call{Reason: "r"}}
	plain := record.Append(record.Append(nil))
	got, next := audit.Number([]byte("before "), plain, "w", 9)
	record.Writer, record.WSeq = "w", 9
	want := record.Append([]byte("before "))
	record.WSeq = 10
	want = record.Append(want)
	if diff := cmp.Diff(string(want), string(got)); diff != "" || next != 11 {
		t.Errorf("next is %d: %s", next, diff)
	}
}
