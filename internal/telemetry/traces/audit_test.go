package traces_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/telemetry/traces"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// chainOf is a chain as it is read of a log that holds these records.
func chainOf(t *testing.T, records ...audit.Record) *query.Chain {
	t.Helper()
	c := &query.Chain{ID: "c1"}
	for _, r := range records {
		r.ChainID, r.Event = "c1", "e"
		if r.Time.IsZero() {
			r.Time = noon
		}
		read := query.Decode(bytes.TrimSuffix(r.Append(nil), []byte("\n")))
		if read.Err != nil {
			t.Fatal(read.Err)
		}
		c.Records = append(c.Records, read)
	}
	return c
}

// lines are the spans in short: when, in milliseconds after noon, for how long, and what.
func lines(tr *traces.Trace) (list []string) {
	for _, s := range tr.Spans {
		line := fmt.Sprintf("%d %v+%v %s %s", s.Depth, s.Start.Sub(noon).Milliseconds(), s.Took.Milliseconds(), s.Name, s.Tags[traces.TagAction])
		if s.Failed != "" {
			line += " " + s.Failed
		}
		if s.Open {
			line += " open"
		}
		list = append(list, line)
	}
	return list
}

func TestTheLogTellsWhatItKnows(t *testing.T) {
	ms := time.Millisecond
	hop := func(hook, action string, took time.Duration) audit.Record {
		return audit.Record{Kind: audit.HookResult, Hook: hook, Action: action, Detail: audit.Call{Took: took}}
	}
	question := audit.Record{Kind: audit.ApprovalRequested, Hook: "b", Action: "requested", Detail: audit.ApprovalRequest{ApprovalID: "q1"}}
	decided := func(after time.Duration, granted bool) audit.Record {
		return audit.Record{Kind: audit.ApprovalDecided, Time: noon.Add(after), Hook: "b", Detail: audit.Decision{ApprovalID: "q1", Granted: granted, DecidedBy: "ann"}}
	}
	result := func(action string, took time.Duration) audit.Record {
		return audit.Record{Kind: audit.ChainResult, Action: action, Detail: audit.Chain{Called: 2, Took: took}}
	}
	for name, tt := range map[string]struct {
		records []audit.Record
		want    []string
	}{
		"hooks stand one behind the other": {
			[]audit.Record{hop("a", "modify", 10*ms), {Kind: audit.HookTimeout, Hook: "b", Detail: audit.Call{Took: 20 * ms, Failure: "timeout", FailedOpen: true}}, {Kind: audit.HookSkipped, Hook: "c", Action: "skipped"}, result("modify", 40*ms)},
			[]string{"0 -40+40 event e modify", "1 -40+10 call a modify", "1 -30+20 call b  timeout", "1 -10+0 match c skipped"},
		},
		"a call stands where it began": {
			[]audit.Record{
				{Kind: audit.HookResult, Hook: "a", Action: "collect", Detail: audit.Call{Start: noon.Add(-9 * ms), Took: 4 * ms}},
				{Kind: audit.HookResult, Hook: "b", Action: "collect", Detail: audit.Call{Start: noon.Add(-7 * ms), Took: 6 * ms}},
				{Kind: audit.HookResult, Hook: "c", Action: "deny", Detail: audit.Call{Start: noon.Add(-5 * ms), Took: ms, Shadow: true}},
				result("collect", 10*ms),
			},
			[]string{"0 -10+10 event e collect", "1 -9+4 call a collect", "1 -7+6 call b collect", "1 -5+1 call c deny"},
		},
		"the event spans calls that began before it and ended after it": {
			[]audit.Record{{Kind: audit.HookResult, Hook: "a", Action: "continue", Detail: audit.Call{Start: noon.Add(-6 * ms), Took: 8 * ms}}, result("continue", 5*ms)},
			[]string{"0 -6+8 event e continue", "1 -6+8 call a continue"},
		},
		"those of a collect are called together": {
			[]audit.Record{hop("a", "collect", 10*ms), hop("b", "collect", 10*ms), result("collect", 10*ms)},
			[]string{"0 -10+10 event e collect", "1 -10+10 call a collect", "1 -10+10 call b collect"},
		},
		"an approval request that is open": {
			[]audit.Record{hop("b", "ask_user", 5*ms), question, result("pending", 5*ms)},
			[]string{"0 -5+5 event e pending", "1 -5+5 call b ask_user", "1 0+0 approval b  open"},
		},
		"an approval request that was denied": {
			[]audit.Record{question, result("pending", 0), decided(time.Minute, false)},
			[]string{"0 0+60000 event e pending", "1 0+60000 approval b deny"},
		},
		"a decision by an earlier clock": {
			[]audit.Record{question, result("pending", 0), decided(-time.Minute, true)},
			[]string{"0 0+0 event e pending", "1 0+0 approval b continue"},
		},
		"a decision on nothing that was asked": {
			[]audit.Record{result("continue", 0), decided(time.Minute, true)},
			[]string{"0 0+0 event e continue"},
		},
		"an answer that the log refused": {
			[]audit.Record{result("continue", 0), {Kind: audit.ChainRefused, Action: "unavailable"}},
			[]string{"0 0+0 event e continue 503"},
		},
		"a chain without its end": {
			[]audit.Record{hop("a", "continue", 3*ms)},
			[]string{"0 0+3 event e ", "1 0+3 call a continue"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, lines(traces.FromAudit(chainOf(t, tt.records...)))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestImpossibleTimesInTheLogDoNoHarm(t *testing.T) {
	c := chainOf(t, audit.Record{Kind: audit.HookResult, Hook: "a"}, audit.Record{Kind: audit.ChainResult})
	c.Records[0].Micros, c.Records[1].Micros = -1, 1<<62
	for _, s := range traces.FromAudit(c).Spans {
		if s.Took < 0 || s.End().Before(s.Start) {
			t.Errorf("%+v", s)
		}
	}
}
