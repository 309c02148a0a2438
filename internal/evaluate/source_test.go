package evaluate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// record returns a record of a chain, as a router writes it.
func record(kind audit.Kind, chainID, hook, action string, detail audit.Detail) audit.Record {
	return audit.Record{
		Time: noon, Kind: kind, ChainID: chainID, Session: "s1", Event: "tool:pre", Hook: hook, Action: action, EventID: "e-" + chainID, Detail: detail,
	}
}

// ended returns the last record of a chain that called that many hooks.
func ended(chainID, action string, called int) audit.Record {
	return record(audit.ChainResult, chainID, "", action, audit.Chain{Agent: "/test", Called: called, In: &audit.Data{Value: json.RawMessage(bash)}})
}

// export returns an export of messages with these records; a record is an audit.Record or text.
func export(t *testing.T, messages ...[]any) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := audit.NewWriter(&out, audit.Header{Origin: "hooks/HOOKS_AUDIT", Prefix: "hooks"})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range messages {
		var body []byte
		for _, r := range m {
			switch r := r.(type) {
			case audit.Record:
				body = r.Append(body)
			case string:
				body = append(body, r+"\n"...)
			}
		}
		if err := w.Message(int64(i+1), noon, "hooks.audit.w.r1", body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// alone is the policy of the recorded answers, so nothing differs.
func alone(ctx context.Context, c *evaluate.Recording) (evaluate.Outcome, error) {
	return c.Recorded(ctx)
}

func TestOnlyWholeChainsThatDecidedAreReplayed(t *testing.T) {
	t.Parallel()
	step := record(audit.HookResult, "c1", "a", "deny", audit.Call{Reason: "no"})
	denied := ended("c1", "deny", 1)
	denied.Detail = audit.Chain{Called: 1, DeniedBy: "b", In: &audit.Data{Value: json.RawMessage(bash)}}
	joined := ended("c1", "pending", 0)
	joined.Detail = audit.Chain{ApprovalID: "q1", In: &audit.Data{Value: json.RawMessage(bash)}}
	odd := ended("c1", "continue", 0)
	odd.Detail = audit.Chain{In: &audit.Data{Value: json.RawMessage(strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70))}}
	bare := ended("c1", "continue", 0)
	bare.Detail = audit.Chain{}
	for sentence, c := range map[string]struct {
		records []any
		reason  string
	}{
		"whole": {[]any{step, ended("c1", "deny", 1)}, ""},
		"a hook whose match failed was not called": {[]any{record(audit.HookError, "c1", "a", "", audit.Call{Failure: "match_error", FailedOpen: true}), ended("c1", "continue", 0)}, ""},
		"a record of a hook is missing":            {[]any{step, ended("c1", "deny", 2)}, "incomplete: records of its hooks are missing (1 of 2 are there)"},
		"that of the hook that denied is":          {[]any{step, denied}, "incomplete: records of its hooks are missing (1 of 1 are there)"},
		"all hooks were asked at once":             {[]any{record(audit.HookResult, "c1", "a", "collect", audit.Call{}), ended("c1", "collect", 1)}, "collect: all hooks were asked at once, and nothing was decided"},
		"its time was over":                        {[]any{ended("c1", "deadline", 0)}, "deadline: the time of the chain was over, and nothing was decided"},
		"it was sent again":                        {[]any{joined}, "sent again: it joined an approval request, and no hook ran"},
		"data that no router takes":                {[]any{odd}, "unreadable: its data is not what a router takes (data nests deeper than 64 levels)"},
		"no data at all":                           {[]any{bare}, "digest only: the log does not hold its data (the router ran with --audit-data=digest)"},
		"what a hook made of the data is missing": {[]any{
			record(audit.HookResult, "c1", "a", "modify", audit.Call{Data: &audit.Data{SHA256: "00", Omitted: 300000}}), ended("c1", "continue", 1),
		}, "omitted: what a made of its data was too large for the log"},
	} {
		t.Run(sentence, func(t *testing.T) {
			results, _ := run(t, evaluate.FromExport(bytes.NewReader(export(t, c.records)), evaluate.RecordingFilter{}), alone)
			if len(results) != 1 || reason(results[0]) != c.reason {
				t.Errorf("%d results, refused for %q; want %q", len(results), reason(results[0]), c.reason)
			}
		})
	}
}

func TestRecordsOfSeveralChainsMayAlternate(t *testing.T) {
	t.Parallel()
	shadow := record(audit.HookResult, "c1", "shadow", "deny", audit.Call{Shadow: true}) // one that is quick, and one after the end
	file := export(
		t,
		[]any{shadow, record(audit.HookResult, "c1", "a", "continue", audit.Call{})},
		[]any{record(audit.HookResult, "c2", "a", "deny", audit.Call{Reason: "no"}), record(audit.HookSkipped, "c1", "b", "skipped", nil)},
		[]any{ended("c2", "deny", 1), ended("c1", "continue", 1)},
		[]any{shadow, record(audit.DisplayKind, "c2", "a", "shown", audit.Display{Message: "x"}), record("made:later", "c2", "", "", nil)},
	)
	results, report := run(t, evaluate.FromExport(bytes.NewReader(file), evaluate.RecordingFilter{}), alone)
	got := []string{}
	for _, r := range results {
		got = append(got, fmt.Sprint(r.Chain.ID, " ", r.Was.Action, " ", r.Was.By, " ", len(r.Chain.Answers)))
	}
	if diff := cmp.Diff([]string{"c2 deny a 1", "c1 continue  1"}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if report.Same != 2 {
		t.Errorf("report %+v", report)
	}
}

func TestFiltersSelectChains(t *testing.T) {
	t.Parallel()
	var messages [][]any
	for i := range 6 {
		r := ended(fmt.Sprint("c", i), "continue", 0)
		r.Time = noon.Add(time.Duration(i) * time.Hour)
		r.Event = []string{"tool:pre", "tool:post", "error:tool"}[i%3]
		r.Session = []string{"s1", "s2"}[i%2]
		messages = append(messages, []any{r})
	}
	file := export(t, messages...)
	for sentence, c := range map[string]struct {
		filter evaluate.RecordingFilter
		want   string
	}{
		"all":                    {evaluate.RecordingFilter{}, "c0 c1 c2 c3 c4 c5"},
		"of a session":           {evaluate.RecordingFilter{Session: "s2"}, "c1 c3 c5"},
		"of an event":            {evaluate.RecordingFilter{Event: "tool:pre"}, "c0 c3"},
		"of a pattern":           {evaluate.RecordingFilter{Event: "tool:*"}, "c0 c1 c2 c3 c4 c5"}, // error:tool is tool:error too
		"one":                    {evaluate.RecordingFilter{Chain: "c4"}, "c4"},
		"since a time":           {evaluate.RecordingFilter{Since: noon.Add(4 * time.Hour)}, "c4 c5"},
		"before a time":          {evaluate.RecordingFilter{Until: noon.Add(2 * time.Hour)}, "c0 c1"},
		"so many":                {evaluate.RecordingFilter{Limit: 2}, "c0 c1"},
		"so many of a session":   {evaluate.RecordingFilter{Limit: 2, Session: "s2"}, "c1 c3"},
		"none is of the session": {evaluate.RecordingFilter{Session: "s3"}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			results, _ := run(t, evaluate.FromExport(bytes.NewReader(file), c.filter), alone)
			ids := []string{}
			for _, r := range results {
				ids = append(ids, r.Chain.ID)
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("chains %q; want %q", got, c.want)
			}
		})
	}
}

func TestMalformedExportIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	whole := string(export(t, []any{ended("c1", "continue", 0)}, []any{ended("c2", "continue", 0)}))
	for sentence, c := range map[string]struct{ file, want string }{
		"empty":     {"", "line 1 of the export: the file is empty"},
		"truncated": {whole[:len(whole)-10], "line 3 of the export: the file ends in the middle of this line"},
		"converted": {strings.ReplaceAll(whole, "\n", "\r\n"), "CR LF"},
		"doubled":   {whole + whole, "line 4 of the export: a second header"},
		"no export": {"{}\n", "line 1 of the export: no header"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := evaluate.Replay(t.Context(), evaluate.FromExport(strings.NewReader(c.file), evaluate.RecordingFilter{}), alone, evaluate.ReplayOptions{}, func(evaluate.Replayed) error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Run = %v; want %s", err, c.want)
			}
		})
	}
}

func TestUnreadableRecordsAreReportedAndSkipped(t *testing.T) {
	t.Parallel()
	describe := []string{}
	filter := evaluate.RecordingFilter{Unreadable: func(err error) { describe = append(describe, err.Error()) }}
	results, _ := run(t, evaluate.FromExport(bytes.NewReader(export(t, []any{`{"kind":7}`, `{"time":"x","a":1}`, ended("c1", "continue", 0)})), filter), alone)
	if len(results) != 1 || len(describe) != 2 {
		t.Errorf("%d results, told %q", len(results), describe)
	}
}

// The recorded answers of any chain give the recorded decision again.
func TestRecordedAnswersGiveTheRecordedDecision(t *testing.T) {
	t.Parallel()
	modified := `{"tool_name":"Shell","timestamp":"T"}`
	for sentence, c := range map[string]struct {
		records []any
		want    evaluate.Decision
	}{
		"a denial by a failure": {[]any{
			record(audit.HookTimeout, "c1", "a", "", audit.Call{Failure: "timeout", FailedOpen: true}),
			record(audit.HookError, "c1", "b", "", audit.Call{Failure: "invalid_result", Error: "x"}), ended("c1", "deny", 2),
		}, evaluate.Decision{Action: chain.Deny, By: "b", Reason: `hook "b" failed (invalid_result) and its on_failure is deny`, Failure: chain.FailedInvalid}},
		"a denial by a match that failed": {[]any{
			record(audit.HookError, "c1", "b", "", audit.Call{Failure: "match_error", Error: "x"}), ended("c1", "deny", 0),
		}, evaluate.Decision{Action: chain.Deny, By: "b", Reason: `hook "b" failed (match_error) and its on_failure is deny`, Failure: chain.FailedMatch}},
		"nobody there": {[]any{
			record(audit.HookError, "c1", "b", "", audit.Call{Failure: "no_responder", Error: "x"}), ended("c1", "deny", 0),
		}, evaluate.Decision{Action: chain.Deny, By: "b", Reason: `hook "b" failed (no_responder) and its on_failure is deny`, Failure: chain.FailedNoResponder}},
		"the last modification": {[]any{
			record(audit.HookResult, "c1", "a", "modify", audit.Call{Data: &audit.Data{Value: json.RawMessage(`{"x":1}`)}}),
			record(audit.HookResult, "c1", "b", "modify", audit.Call{Data: &audit.Data{Value: json.RawMessage(modified)}, Reason: "r"}), ended("c1", "continue", 2),
		}, evaluate.Decision{Action: chain.Modify, By: "b", Reason: "r"}},
		"an injection whose text is not in the log": {[]any{
			record(audit.HookResult, "c1", "a", "inject_context", audit.Call{Injection: &audit.Data{SHA256: "00"}}), ended("c1", "continue", 1),
		}, evaluate.Decision{Action: chain.InjectContext, By: "a"}},
		"an injection of nothing": {[]any{
			record(audit.HookResult, "c1", "a", "inject_context", audit.Call{}), ended("c1", "continue", 1),
		}, evaluate.Decision{Action: chain.Continue}},
		"the first approval request": {[]any{
			record(audit.HookResult, "c1", "a", "ask_user", audit.Call{}), record(audit.HookResult, "c1", "b", "ask_user", audit.Call{}), ended("c1", "pending", 2),
		}, evaluate.Decision{Action: chain.AskUser, By: "a"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			results, _ := run(t, evaluate.FromExport(bytes.NewReader(export(t, c.records)), evaluate.RecordingFilter{}), alone)
			if reason(results[0]) != "" {
				t.Fatalf("refused: %s", reason(results[0]))
			}
			if diff := cmp.Diff(c.want, results[0].Was); diff != "" {
				t.Errorf("was (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnlyTextsThatTheLogHoldsAreCompared(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		text    audit.Data
		differs string
	}{
		"a whole text":           {audit.Data{Value: json.RawMessage(`"old"`)}, evaluate.DiffersInText},
		"a masked one":           {audit.Data{Value: json.RawMessage(`"***"`), Redacted: true}, ""},
		"the digest of one":      {audit.Data{SHA256: "00"}, ""},
		"one that was too large": {audit.Data{Omitted: 300000}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := export(t, []any{record(audit.HookResult, "c1", "a", "inject_context", audit.Call{Injection: &c.text}), ended("c1", "continue", 1)})
			results, _ := run(t, evaluate.FromExport(bytes.NewReader(file), evaluate.RecordingFilter{}), func(ctx context.Context, c *evaluate.Recording) (evaluate.Outcome, error) {
				out, err := c.Recorded(ctx)
				return evaluate.Outcome{Action: out.Action, Data: out.Data, Injection: "new"}, err // the hook was called
			})
			if results[0].Differs != c.differs {
				t.Errorf("differs %q; want %q", results[0].Differs, c.differs)
			}
		})
	}
}

func TestWhatADeniedChainMadeOfItsDataDoesNotMatter(t *testing.T) {
	t.Parallel()
	file := export(t, []any{record(audit.HookResult, "c1", "a", "deny", audit.Call{}), ended("c1", "deny", 1)})
	results, _ := run(t, evaluate.FromExport(bytes.NewReader(file), evaluate.RecordingFilter{}), func(ctx context.Context, c *evaluate.Recording) (evaluate.Outcome, error) {
		out, err := c.Recorded(ctx)
		out.Data = json.RawMessage(`{"other":1}`)
		return out, err
	})
	if results[0].Differs != "" {
		t.Errorf("differs %q", results[0].Differs)
	}
}

func TestResultsComeInTheOrderOfTheLog(t *testing.T) {
	t.Parallel()
	const chains, parallel = 40, 4
	var messages [][]any
	for i := range chains {
		messages = append(messages, []any{ended(fmt.Sprint("c", i), "continue", 0)})
	}
	source := evaluate.FromExport(bytes.NewReader(export(t, messages...)), evaluate.RecordingFilter{})
	var began atomic.Int32
	full := make(chan struct{})
	slow := func(ctx context.Context, c *evaluate.Recording) (evaluate.Outcome, error) {
		if began.Add(1) == parallel {
			close(full)
		}
		if c.ID == "c0" { // until the maximum number runs
			<-full
			<-time.After(20 * time.Millisecond) // but not more
		}
		return c.Recorded(ctx)
	}
	var ids []string
	err := evaluate.Replay(t.Context(), source, slow, evaluate.ReplayOptions{Parallel: parallel}, func(r evaluate.Replayed) error {
		if n := began.Load(); len(ids) == 0 && n != parallel {
			t.Errorf("%d began before the first ended; want %d", n, parallel)
		}
		ids = append(ids, r.Chain.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) != chains || !slices.IsSortedFunc(ids, func(a, b string) int { return len(a) - len(b) }) || ids[39] != "c39" {
		t.Errorf("order %q", ids)
	}
}

func TestTheFirstErrorEndsAReplay(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var messages [][]any
	for i := range 100 {
		messages = append(messages, []any{ended(fmt.Sprint("c", i), "continue", 0)})
	}
	file := export(t, messages...)
	for sentence, c := range map[string]struct {
		policy evaluate.Policy
		handle func(evaluate.Replayed) error
	}{
		"of the policy": {func(context.Context, *evaluate.Recording) (evaluate.Outcome, error) {
			return evaluate.Outcome{}, broken
		}, func(evaluate.Replayed) error { return nil }},
		"of who is told": {alone, func(evaluate.Replayed) error { return broken }},
	} {
		t.Run(sentence, func(t *testing.T) {
			if err := evaluate.Replay(t.Context(), evaluate.FromExport(bytes.NewReader(file), evaluate.RecordingFilter{}), c.policy, evaluate.ReplayOptions{Parallel: 3}, c.handle); !errors.Is(err, broken) {
				t.Errorf("Run = %v", err)
			}
		})
	}
}

func TestReplayKeepsToItsRate(t *testing.T) {
	t.Parallel()
	var messages [][]any
	for i := range 6 {
		messages = append(messages, []any{ended(fmt.Sprint("c", i), "continue", 0)})
	}
	start := time.Now()
	err := evaluate.Replay(t.Context(), evaluate.FromExport(bytes.NewReader(export(t, messages...)), evaluate.RecordingFilter{}), alone,
		evaluate.ReplayOptions{Parallel: 4, Rate: 50}, func(evaluate.Replayed) error { return nil })
	if took := time.Since(start); err != nil || took < 100*time.Millisecond { // 5 pauses of 20 ms
		t.Errorf("Run = %v after %v; want at least 100 ms", err, took)
	}
}
