package why_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/why"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// at returns the time of a record, in milliseconds after the first one.
func at(ms int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, ms*int(time.Millisecond), time.UTC)
}

// told is the part of a story about the decision.
type told struct {
	Verdict, Reason, Hook, Rule, By string
	Next                            []string
}

// The answer to the agent, who decided, and the commands to run next.
func TestOf(t *testing.T) {
	t.Parallel()
	var (
		call     = query.Record{Time: at(0), Kind: audit.HookResult, Event: "tool:pre", Hook: "guard", Action: "deny", Rule: "policy.yaml:7", Reason: "no"}
		passes   = query.Record{Time: at(0), Kind: audit.HookResult, Event: "tool:pre", Hook: "other", Action: "continue"}
		failed   = query.Record{Time: at(0), Kind: audit.HookTimeout, Event: "tool:pre", Hook: "slow", Failure: "timeout"}
		unserved = query.Record{Time: at(0), Kind: audit.HookError, Event: "tool:pre", Hook: "guard", Failure: "no_responder"}
		asks     = query.Record{Time: at(0), Kind: audit.HookResult, Event: "tool:pre", Hook: "asks", Action: "ask_user", Rule: "policy.yaml:9"}
		asked    = query.Record{Time: at(10), Kind: audit.ApprovalRequested, ApprovalID: "a1", Prompt: "Deploy?"}
		granted  = query.Record{Time: at(60), Kind: audit.ApprovalDecided, ApprovalID: "a1", Granted: true, Option: "Allow once", DecidedBy: "nats approver/ann"}
		refused  = query.Record{Time: at(60), Kind: audit.ApprovalDecided, ApprovalID: "a1", DecidedBy: "nats approver/ann", Note: "not on Friday"}
		pending  = query.Record{Time: at(20), Kind: audit.ChainResult, Event: "tool:pre", Action: "pending"}
	)
	shadow := call
	shadow.Hook, shadow.Shadow = "tried", true
	result := func(action, by, reason string) query.Record {
		return query.Record{Time: at(20), Kind: audit.ChainResult, Event: "tool:pre", Action: action, DeniedBy: by, Reason: reason}
	}
	show := "hookctl audit show c1"
	for name, tt := range map[string]struct {
		records []query.Record
		want    told
	}{
		"a denial":                  {[]query.Record{passes, call, result("deny", "guard", "no")}, told{why.Denied, "no", "guard", "policy.yaml:7", "", []string{show, "hookctl audit query --since 1d --action deny --hook guard"}}},
		"nothing denies":            {[]query.Record{passes, result("continue", "", "")}, told{why.Allowed, "", "", "", "", []string{show}}},
		"what would deny in shadow": {[]query.Record{shadow, result("continue", "", "")}, told{why.Allowed, "", "", "", "", []string{show}}},
		"a failure denies":          {[]query.Record{failed, result("deny", "slow", "slow failed (timeout)")}, told{why.Denied, "slow failed (timeout)", "slow", "", "", []string{show, "hookctl audit query --since 1h --hook slow"}}},
		"no worker answers":         {[]query.Record{unserved, result("deny", "guard", "guard failed (no_responder)")}, told{why.Denied, "guard failed (no_responder)", "guard", "", "", []string{"# no worker serves guard: start it again", show, "hookctl audit query --since 1h --hook guard", "hookctl hook rm guard  # only if nobody is to serve it any more"}}},
		"nobody has answered":       {[]query.Record{asks, asked, pending}, told{why.Waiting, "", "asks", "policy.yaml:9", "", []string{"hookctl approvals show a1", show}}},
		"a person allowed it":       {[]query.Record{asks, asked, pending, granted}, told{why.Allowed, "", "asks", "policy.yaml:9", "nats approver/ann", []string{show}}},
		"a person denied it":        {[]query.Record{asks, asked, pending, refused}, told{why.Denied, "not on Friday", "asks", "policy.yaml:9", "nats approver/ann", []string{show}}},
		"the time was over":         {[]query.Record{passes, result("deadline", "", "")}, told{why.Refused, "the time was over before every hook was heard", "", "", "", []string{show}}},
		"the log took no records":   {[]query.Record{passes, result("continue", "", ""), {Time: at(30), Kind: audit.ChainRefused, Action: "unavailable"}}, told{why.Refused, "the audit log did not take its records in time", "", "", "", []string{show}}},
		"frozen meanwhile":          {[]query.Record{passes, result("continue", "", ""), {Time: at(30), Kind: audit.ChainRefused, Action: "frozen", Reason: "stop"}}, told{why.Denied, "stop", "", "", "", []string{show}}},
		"no result is recorded":     {[]query.Record{passes}, told{why.Unknown, "", "", "", "", []string{show}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := why.Of(&query.Chain{ID: "c1", Records: tt.records})
			got := told{s.Verdict, s.Reason, s.Hook, s.Rule, s.By, s.Next}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	waited := why.Of(&query.Chain{ID: "c1", Records: []query.Record{asks, asked, pending, granted}}).Approval
	if len(waited) != 1 || waited[0].Waited != 50 || waited[0].Prompt != "Deploy?" {
		t.Errorf("approvals %+v; want one that was waited for 50 ms", waited)
	}
}

// If several hooks asked, all are named. People who saw the secrets are named once.
func TestAllWhoAskedAreNamed(t *testing.T) {
	t.Parallel()
	ask := func(hook string, shadow bool) query.Record {
		return query.Record{Time: at(0), Kind: audit.HookResult, Event: "tool:pre", Hook: hook, Action: "ask_user", Shadow: shadow, Rule: "built-in:p.yaml:1 " + hook}
	}
	reveal := query.Record{Time: at(30), Kind: audit.ApprovalRevealed, ApprovalID: "a1", By: "nats admin/ann"}
	requested := query.Record{Time: at(10), Kind: audit.ApprovalRequested, ApprovalID: "a1", Prompt: "Deploy?"}
	pending := query.Record{Time: at(20), Kind: audit.ChainResult, Event: "tool:pre", Action: "pending"}
	late := query.Record{Time: at(60), Kind: audit.ApprovalDecided, ApprovalID: "a1", DecidedBy: "timeout", TimedOut: true}
	s := why.Of(&query.Chain{ID: "c1", Records: []query.Record{ask("paths", false), ask("commands", false), ask("paths", false), ask("tried", true), requested, pending, reveal, reveal, late}})
	if diff := cmp.Diff([]string{"paths", "commands"}, s.Askers); diff != "" || s.Hook != "paths" {
		t.Errorf("hook %q, (-want +got):\n%s", s.Hook, diff)
	}
	if s.RuleText != "paths (starter policy, p.yaml:1)" || s.Hooks[1].RuleText != "commands (starter policy, p.yaml:1)" {
		t.Errorf("rules %q, %q", s.RuleText, s.Hooks[1].RuleText)
	}
	if diff := cmp.Diff([]string{"nats admin/ann"}, s.Approval[0].Revealed); diff != "" || s.Approval[0].Decided == "" || s.Verdict != why.Denied {
		t.Errorf("%+v\n%s", s, diff)
	}
	alone := why.Of(&query.Chain{ID: "c1", Records: []query.Record{ask("paths", false), ask("paths", false), requested, pending}})
	if alone.Askers != nil || alone.Hook != "paths" {
		t.Errorf("one that asked twice: %q of %q", alone.Hook, alone.Askers)
	}
}

// An id must not inject a command that a person copies.
func TestNothingForeignIsTyped(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a;reboot", "$(reboot)", "-x", "a b", "a\nb", "", "é"} {
		records := []query.Record{
			{Time: at(0), Kind: audit.HookResult, Event: "tool:pre", Hook: id, Action: "deny"},
			{Time: at(1), Kind: audit.ApprovalRequested, ApprovalID: id},
			{Time: at(2), Kind: audit.ChainResult, Event: "tool:pre", Action: "deny", DeniedBy: id},
		}
		if s := why.Of(&query.Chain{ID: id, Records: records}); len(s.Next) > 0 {
			t.Errorf("id %q: %q", id, s.Next)
		}
	}
}
