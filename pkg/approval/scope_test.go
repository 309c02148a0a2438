package approval_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestTheScopeOfAnAnswer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	in := func(d time.Duration) approval.Time { return approval.At(now.Add(d)) }
	q := approval.Request{Options: []string{"Allow", "Allow always", "Deny"}, Expires: in(time.Minute)}
	for _, c := range []struct {
		answer  approval.Answer
		scope   string
		expires approval.Time
	}{
		{approval.Answer{Option: "Allow always"}, "", approval.Time{}},
		{approval.Answer{Option: "Allow always", Scope: "session"}, "", approval.Time{}},
		{approval.Answer{Option: "Allow always", Expires: in(time.Hour)}, "", in(time.Hour)},
		{approval.Answer{Option: "allow ALWAYS", Scope: "agent"}, "agent", in(approval.MaxGrant)},
		{approval.Answer{Option: "Allow always", Scope: "lineage", Expires: in(time.Hour)}, "lineage", in(time.Hour)},
	} {
		d, err := approval.Decide(q, c.answer, "ann", now)
		if err != nil || d.Scope != c.scope || !d.GrantExpires.Equal(c.expires.Time) {
			t.Errorf("%+v: %q until %s, %v", c.answer, d.Scope, d.GrantExpires, err)
		}
	}
	several, once := q, q
	several.Needs, once.Options = &chain.Approval{}, []string{"Allow", "Deny"}
	for name, c := range map[string]struct {
		q approval.Request
		a approval.Answer
	}{
		"a scope that nobody knows":  {q, approval.Answer{Option: "Allow always", Scope: "world"}},
		"a permission for once":      {q, approval.Answer{Option: "Allow", Scope: "agent"}},
		"a denial":                   {q, approval.Answer{Option: "Deny", Scope: "agent"}},
		"a denial with an end":       {q, approval.Answer{Option: "Deny", Expires: in(time.Hour)}},
		"an end that was":            {q, approval.Answer{Option: "Allow always", Expires: in(0)}},
		"an end that is too far":     {q, approval.Answer{Option: "Allow always", Expires: in(approval.MaxGrant + time.Second)}},
		"an error":                   {q, approval.Answer{Error: "x", Scope: "agent"}},
		"what was not offered":       {once, approval.Answer{Option: "Allow always", FreeText: true, Scope: "agent"}},
		"what several have to allow": {several, approval.Answer{Option: "Allow always", Scope: "agent"}},
	} {
		if d, err := approval.Decide(c.q, c.a, "ann", now); !errors.Is(err, approval.ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if _, err := approval.Pass(q, approval.Answer{Pass: true, Scope: "agent"}, "ann", now); !errors.Is(err, approval.ErrMalformed) {
		t.Errorf("a request that is passed on: %v", err)
	}
}

func TestScopesAreForTheProven(t *testing.T) {
	proven := func() approval.Record {
		return approval.Record{Request: approval.Request{Options: []string{"allow ALWAYS", "Deny"}}, Emitter: "nats agent/coder"}
	}
	if got := proven().ScopesFor("nats approver/ann"); len(got) != 3 || got[0] != approval.ScopeSession {
		t.Errorf("scopes %q", got)
	}
	unproven, several, once, decided := proven(), proven(), proven(), proven()
	unproven.Emitter, several.Needs, once.Options, decided.Decision = "", &chain.Approval{}, []string{"Allow once", "Deny"}, &approval.Decision{}
	for name, r := range map[string]approval.Record{"an unproven sender": unproven, "several must allow": several, "it is not offered": once, "it is decided": decided} {
		if got := r.ScopesFor("nats approver/ann"); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := proven().ScopesFor(""); got != nil {
		t.Errorf("an unproven approver: %q", got)
	}
}
