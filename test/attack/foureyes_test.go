package attack

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookrouter/hookrouter/internal/dispatch"
	"github.com/hookrouter/hookrouter/internal/identity"
	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/router"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
	"github.com/hookrouter/hookrouter/pkg/verdict"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

// groups is who may approve on the bus of these tests. The agent coder is ann's.
const groups = `
people:
  ann: {identities: [nats approver/ann, nats approver/ann-phone], agents: [nats agent/coder]}
  bob: {identities: [nats approver/bob]}
  cyd: {identities: [nats approver/cyd]}
  root: {identities: [nats admin/boss]}
models: [nats approver/gatekeeper]
groups:
  security: [ann, bob, root]
  oncall: [ann, cyd, root]
approvals:
  - hook: operated
    approvers: [{group: security}, {group: oncall}]
    exclude_requester: true
`

// fourEyes is a bus whose hooks ask two people: deploys by its registration, operated by the
// operator's file. The hook early asks before, and says nothing of the kind.
type fourEyes struct {
	*authBus
	ctx context.Context
}

func newFourEyes(t *testing.T) *fourEyes {
	t.Helper()
	who, err := people.Parse("groups.yaml", []byte(groups))
	if err != nil {
		t.Fatal(err)
	}
	rules := approval.Rules{{Name: "all", Decision: "allow", Hook: "*"}, {Name: "never", Decision: "deny", Prompt: "*never*"}}
	w := newAuthBus(t, router.Options{People: who, Dispatch: dispatch.Options{Rules: rules}},
		identity.Identity{Name: "cyd", Role: identity.Approver}, identity.Identity{Name: "ann-phone", Role: identity.Approver}, identity.Identity{Name: "dan", Role: identity.Approver},
		identity.Identity{Name: "gatekeeper", Role: identity.Approver}, identity.Identity{Name: "boss", Role: identity.Admin},
		identity.Identity{Name: "askers", Role: identity.Worker, Hooks: []string{"deploys", "operated", "early", "unknown-group"}})
	b := &fourEyes{w, testkit.Within(t, testkit.Patience)}
	workers, err := worker.New(b.client("askers"), worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(_ context.Context, e events.Event) (worker.Result, error) {
		r := chain.Question("Deploy?", "Allow once", "Allow always", "Deny")
		if strings.Contains(string(e.Data), "never") {
			r.ApprovalPrompt = "never?"
		}
		r.ApprovalDefault = chain.Allow
		return r, nil
	}
	needs := &chain.Approval{Approvers: []chain.Approvers{{Group: "security"}, {Group: "oncall"}}, ExcludeRequester: true}
	for _, reg := range []worker.Registration{
		{ID: "early", Events: []string{"prompt:submit"}, Priority: -10},
		{ID: "deploys", Events: []string{"tool:pre", "prompt:submit"}, Approval: needs},
		{ID: "operated", Events: []string{"tool:post"}},
		{ID: "unknown-group", Events: []string{"tool:error"}, Approval: &chain.Approval{Approvers: []chain.Approvers{{Group: "nobody"}}}},
	} {
		if _, err := workers.Register(b.ctx, reg, ask); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// execute sends an event as an agent, and waits for what the router decides without people.
func (b *fourEyes) execute(from, event, data string) verdict.Verdict {
	b.t.Helper()
	return b.send(from, events.NewID(), event, data, "20000")
}

// executeAs sends an event with an id, and does not wait for people.
func (b *fourEyes) executeAs(from, id, event, data string) verdict.Verdict {
	b.t.Helper()
	return b.send(from, id, event, data, "1")
}

func (b *fourEyes) send(from, id, event, data, waitMs string) verdict.Verdict {
	b.t.Helper()
	m, err := b.conn(from).Conn().RequestMsgWithContext(b.ctx, &nats.Msg{Subject: "hooks.execute." + strings.Replace(event, ":", ".", 1), Data: []byte(data), Header: nats.Header{
		"ce-specversion": {"1.0"}, "ce-id": {id}, "ce-source": {"/coder"}, "ce-type": {event}, "ce-subject": {"s1"}, "Hook-Wait-Ms": {waitMs},
	}})
	if err != nil || m.Header.Get("Nats-Service-Error-Code") != "" {
		b.t.Fatalf("%v, %v", m, err)
	}
	v, err := verdict.Parse(m.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// asked has an agent ask, and returns the approval request.
func (b *fourEyes) asked(from, event, data string) approval.Record {
	b.t.Helper()
	v := b.executeAs(from, events.NewID(), event, data)
	if v.Action != verdict.Pending {
		b.t.Fatalf("%+v; want that somebody is asked", v)
	}
	return b.record(v.Approval.ID)
}

func (b *fourEyes) record(id string) approval.Record {
	b.t.Helper()
	r, err := b.person("ann").Get(b.ctx, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *fourEyes) person(name string) *approver.Approver { return approver.New(b.client(name)) }

// refused has somebody answer, which must not count, and looks that nothing is decided.
func (b *fourEyes) refused(id, name string, a approval.Answer, why string) {
	b.t.Helper()
	if _, err := b.person(name).Answer(b.ctx, id, a); err == nil || !strings.Contains(err.Error(), why) {
		b.t.Errorf("%s answers %+v: %v; want a refusal with %q", name, a, err, why)
	}
	if r := b.record(id); r.Decision != nil {
		b.t.Fatalf("%s answers %+v, and it is decided: %+v", name, a, r.Decision)
	}
}

func (b *fourEyes) allows(id, name string) {
	b.t.Helper()
	if _, err := b.person(name).Answer(b.ctx, id, approval.Answer{Option: "Allow once"}); err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
}

// An agent, its person, one person of several and whoever is not proven try to get an
// approval that takes two people, by every path that there is.
func TestNobodyIsTwoPeople(t *testing.T) {
	t.Parallel()
	b := newFourEyes(t)
	for _, event := range []string{"tool:pre", "tool:post", "prompt:submit"} { // by the worker, by the operator, behind another's question
		r := b.asked("coder", event, `{"tool_name":"Bash"}`)
		if r.Needs.People() != 2 || r.Default != "deny" || slices.ContainsFunc(r.Options, approval.Remembered) || r.Progress != "0 of 2; needs 1 of security, 1 of oncall" {
			t.Errorf("%s: %+v", event, r.Request)
		}
		allow := approval.Answer{Option: "Allow once", By: "bob"}
		if _, err := b.person("coder").Answer(testkit.Within(t, 200*time.Millisecond), r.ID, allow); err == nil { // NATS drops it
			t.Error("an agent answered")
		}
		b.refused(r.ID, "ann", allow, "ann asks for it")
		b.refused(r.ID, "ann-phone", allow, "ann asks for it")
		b.refused(r.ID, "dan", allow, "not a known person")
		b.refused(r.ID, "gatekeeper", allow, "a model's approval never counts")
		b.refused(r.ID, "bob", approval.Answer{Option: "Allow"}, "not one of")
		b.allows(r.ID, "bob")
		b.refused(r.ID, "bob", allow, "bob has allowed already")
		b.refused(r.ID, "bob", approval.Answer{Option: "Allow always", FreeText: true}, "bob has allowed already")
		if got := b.record(r.ID); got.Progress != "1 of 2: bob allowed; needs 1 of oncall" || len(got.Reviews) != 1 || got.Reviews[0].By != "nats approver/bob" || got.Reviews[0].Person != "bob" {
			t.Errorf("%s: %+v", event, got.Request)
		}
		b.allows(r.ID, "cyd")
		got := b.record(r.ID)
		if got.Decision == nil || !got.Granted || got.DecidedBy != "nats approver/cyd" || !slices.Equal(got.ApprovedBy, []string{"nats approver/bob", "nats approver/cyd"}) {
			t.Errorf("%s: two people allowed: %+v", event, got.Decision)
		}
	}
}

// An administrator can ask and answer. What they asked for, others approve.
func TestAnAdministratorDoesNotApproveTheirOwn(t *testing.T) {
	t.Parallel()
	b := newFourEyes(t)
	r := b.asked("boss", "tool:pre", `{"tool_name":"Bash"}`)
	b.refused(r.ID, "boss", approval.Answer{Option: "Allow once"}, "root asks for it")
	b.allows(r.ID, "ann")
	b.refused(r.ID, "ann-phone", approval.Answer{Option: "Allow once"}, "ann has allowed already")
	b.allows(r.ID, "bob")
	if got := b.record(r.ID); got.Decision == nil || !got.Granted {
		t.Errorf("ann and bob allowed: %+v", got.Decision)
	}
}

// Neither a rule nor an earlier "Allow always" stands for people. A rule may deny.
func TestNothingStandsForPeople(t *testing.T) {
	t.Parallel()
	b := newFourEyes(t)
	first := b.asked("rival", "tool:pre", `{"tool_name":"Bash"}`)
	for _, name := range []string{"bob", "cyd"} {
		if _, err := b.person(name).Answer(b.ctx, first.ID, approval.Answer{Option: "Allow always", FreeText: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.record(first.ID); got.Decision == nil || !got.Granted {
		t.Fatalf("bob and cyd allowed: %+v", got.Decision)
	}
	if again := b.asked("rival", "tool:pre", `{"tool_name":"Bash"}`); again.ID == first.ID {
		t.Error("the second event has the request of the first")
	}
	if v := b.execute("rival", "tool:pre", `{"tool_name":"never"}`); v.Action != verdict.Deny || !strings.Contains(v.Reason, "rule never") {
		t.Errorf("a rule denies: %+v", v)
	}
	if v := b.execute("rival", "tool:error", `{"tool_name":"Bash"}`); v.Action != verdict.Deny || !strings.Contains(v.Reason, `no group "nobody"`) {
		t.Errorf("nobody can approve it: %+v", v)
	}
}

// One denial is enough, whoever gives it, and however many have allowed.
func TestOneDenialDeniesAtOnce(t *testing.T) {
	t.Parallel()
	b := newFourEyes(t)
	for name, a := range map[string]approval.Answer{
		"cyd": {Option: "Deny"}, "dan": {Option: "Deny"}, "ann": {Option: "Deny"}, "gatekeeper": {Option: "Deny", Note: "it drops a table"}, "bob": {Error: "pager is down"},
	} {
		r := b.asked("coder", "tool:pre", `{"tool_name":"Bash"}`)
		b.allows(r.ID, "bob")
		if _, err := b.person(name).Answer(b.ctx, r.ID, a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := b.record(r.ID); got.Decision == nil || got.Granted {
			t.Errorf("%s denies: %+v", name, got.Decision)
		}
	}
}

// A model may say what it thinks. It never counts, also where one person is enough.
func TestAModelNeverCounts(t *testing.T) {
	t.Parallel()
	b := newFourEyes(t)
	r := b.asked("rival", "tool:pre", `{"tool_name":"Bash"}`)
	pass := approval.Answer{Pass: true, Note: "a test machine, token=ghp_0123456789abcdefghij0123456789abcdef"}
	if _, err := b.person("gatekeeper").Answer(b.ctx, r.ID, pass); err != nil {
		t.Fatal(err)
	}
	b.refused(r.ID, "gatekeeper", pass, "already")
	b.refused(r.ID, "dan", pass, "not a known person")
	b.refused(r.ID, "cyd", approval.Answer{Pass: true, Option: "Deny"}, "passes the request on")
	got := b.record(r.ID)
	if len(got.Reviews) != 1 || !got.Reviews[0].Model || !strings.HasPrefix(got.Reviews[0].Note, "a test machine") || got.Progress != "0 of 2; needs 1 of security, 1 of oncall" {
		t.Errorf("%+v", got.Request)
	}
	if strings.Contains(got.Reviews[0].Note, "ghp_") {
		t.Errorf("a secret is shown: %s", got.Reviews[0].Note)
	}
	b.allows(r.ID, "bob")
	b.allows(r.ID, "cyd")
	if got := b.record(r.ID); got.Decision == nil || !slices.Equal(got.ApprovedBy, []string{"nats approver/bob", "nats approver/cyd"}) {
		t.Errorf("%+v", got.Decision)
	}
}
