package people_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/people"
	"github.com/hookrouter/hookrouter/internal/wire"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

const file = `
people:
  ann: {identities: [console ann, nats approver/ann], agents: [nats agent/ann-laptop]}
  bob: {identities: [console bob]}
  cyd: {identities: [console cyd]}
models: [nats approver/gatekeeper]
groups:
  security: [ann, bob]
  oncall: [bob, cyd]
approvals:
  - hook: deploy-*
    event: tool:*
    approvers: [{group: security}, {group: oncall}]
    exclude_requester: true
  - {hook: deploy-db, approvers: [{group: oncall, count: 2}]}
`

func parse(t *testing.T, text string) *people.People {
	t.Helper()
	p, err := people.Parse("groups.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func both(exclude bool) *chain.Approval {
	return &chain.Approval{Approvers: []chain.Approvers{{Group: "security"}, {Group: "oncall"}}, ExcludeRequester: exclude}
}

func TestWhoseApprovalCounts(t *testing.T) {
	t.Parallel()
	p := parse(t, file)
	for name, test := range map[string]struct {
		exclude  bool
		sender   string
		earlier  []string
		identity string
		progress string
		done     bool
		code     int
		why      string
	}{
		"nobody yet":                        {progress: "0 of 2; needs 1 of security, 1 of oncall"},
		"the first":                         {identity: "console ann", progress: "1 of 2: ann allowed; needs 1 of oncall"},
		"one of each":                       {earlier: []string{"console ann"}, identity: "console cyd", progress: "2 of 2: ann, cyd allowed", done: true},
		"in both groups, for one of them":   {identity: "console bob", progress: "1 of 2: bob allowed; needs 1 of oncall"},
		"who is in both makes room":         {earlier: []string{"console bob"}, identity: "console ann", progress: "2 of 2: bob, ann allowed", done: true},
		"the same identity again":           {earlier: []string{"console bob"}, identity: "console bob", code: 409, why: "bob has allowed already"},
		"the same person, another identity": {earlier: []string{"console ann"}, identity: "nats approver/ann", code: 409, why: "ann has allowed already"},
		"a second of the same group":        {earlier: []string{"console cyd"}, identity: "console cyd", code: 409, why: "cyd has allowed already"},
		"unproven":                          {identity: "unauthenticated", code: 403, why: "not a known person"},
		"a link":                            {identity: "approval link", code: 403, why: "not a known person"},
		"a shared token":                    {identity: "console token", code: 403, why: "not a known person"},
		"a name without its proof":          {identity: "ann", code: 403, why: "not a known person"},
		"a model":                           {identity: "nats approver/gatekeeper", code: 403, why: "not a known person"},
		"an agent of a person":              {identity: "nats agent/ann-laptop", code: 403, why: "not a known person"},
		"the requester's person":            {exclude: true, sender: "nats agent/ann-laptop", identity: "console ann", code: 403, why: "ann asks for it"},
		"the requester":                     {exclude: true, sender: "console bob", identity: "console bob", code: 403, why: "bob asks for it"},
		"the requester before":              {exclude: true, sender: "nats agent/ann-laptop", earlier: []string{"console ann"}, identity: "console cyd", progress: "1 of 2: cyd allowed; needs 1 of security"},
		"another's agent":                   {exclude: true, sender: "nats agent/other", identity: "console ann", progress: "1 of 2: ann allowed; needs 1 of oncall"},
		"a requester who is not proven":     {exclude: true, identity: "console ann", code: 403, why: "not proven"},
		"whoever asks, where that is right": {sender: "nats agent/ann-laptop", identity: "console ann", progress: "1 of 2: ann allowed; needs 1 of oncall"},
		"who left the file does not count":  {earlier: []string{"console dan"}, identity: "console ann", progress: "1 of 2: ann allowed; needs 1 of oncall"},
	} {
		t.Run(name, func(t *testing.T) {
			progress, done, err := p.CountApproval(both(test.exclude), test.sender, test.earlier, test.identity)
			if test.code != 0 {
				if wire.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.why) {
					t.Errorf("%v; want %d with %q", err, test.code, test.why)
				}
				return
			}
			if err != nil || progress != test.progress || done != test.done {
				t.Errorf("%q, done %v, %v; want %q, %v", progress, done, err, test.progress, test.done)
			}
		})
	}
	if _, _, err := p.CountApproval(&chain.Approval{Approvers: []chain.Approvers{{Group: "security"}}}, "", nil, "console cyd"); wire.CodeOf(err) != 403 {
		t.Errorf("cyd, who is not in the group: %v", err)
	}
	if _, _, err := p.CountApproval(&chain.Approval{Approvers: []chain.Approvers{{Group: "security"}, {Group: "oncall"}}}, "", []string{"console ann", "console bob"}, "console cyd"); wire.CodeOf(err) != 409 {
		t.Errorf("a third of two: %v", err)
	}
}

func TestOnlyTheFileSaysWhoAnybodyIs(t *testing.T) {
	t.Parallel()
	p := parse(t, file)
	if p.Person("nats approver/ann") != "ann" || p.Person("ann") != "" || !p.Model("nats approver/gatekeeper") || p.Model("console ann") {
		t.Error("who is who is not as the file says")
	}
	p.Replace(parse(t, "people: {}"))
	if p.Person("console ann") != "" {
		t.Error("ann is known, and the file that is in force names nobody")
	}
	var nobody *people.People
	if _, _, err := nobody.CountApproval(both(false), "", nil, "console ann"); wire.CodeOf(err) != 403 {
		t.Errorf("without a file: %v", err)
	}
	if nobody.Needs("deploy-db", "tool:pre") != nil {
		t.Error("without a file something is needed")
	}
}

func TestWhatTheOperatorNeeds(t *testing.T) {
	t.Parallel()
	p := parse(t, file)
	for _, test := range []struct {
		hook, event string
		people      int
	}{{"deploy-web", "tool:pre", 2}, {"deploy-db", "tool:pre", 3}, {"deploy-db", "prompt:submit", 2}, {"deploy-web", "prompt:submit", 0}, {"other", "tool:pre", 0}} {
		if n := p.Needs(test.hook, test.event).People(); n != test.people {
			t.Errorf("%s on %s takes %d people, want %d", test.hook, test.event, n, test.people)
		}
	}
	for why, test := range map[string]struct {
		needs  *chain.Approval
		sender string
	}{
		"not proven":                         {both(true), ""},
		"missing 1 of oncall":                {&chain.Approval{Approvers: []chain.Approvers{{Group: "oncall", Count: 3}}}, ""},
		`no group "nobody"`:                  {&chain.Approval{Approvers: []chain.Approvers{{Group: "nobody"}}}, ""},
		"missing 1 of security":              {&chain.Approval{Approvers: []chain.Approvers{{Group: "security", Count: 2}}, ExcludeRequester: true}, "nats agent/ann-laptop"},
		"missing 1 of security, 1 of oncall": {&chain.Approval{Approvers: []chain.Approvers{{Group: "security", Count: 3}, {Group: "oncall", Count: 2}}}, ""},
	} {
		if got := p.Impossible(test.needs, test.sender); !strings.Contains(got, why) {
			t.Errorf("%+v of %q: %q, want %q", test.needs, test.sender, got, why)
		}
	}
	if why := p.Impossible(both(true), "nats agent/coder"); why != "" {
		t.Errorf("possible, and the answer is %q", why)
	}
}

func TestWrongFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "the file is empty",
		"persons: {}":                        "persons",
		"people: {ann: {identity: [x]}}":     "identity",
		"people: {ann: {identities: [ann]}}": "proves nobody",
		"people: {ann: {identities: [console token]}}":                             "a token of their own",
		"people: {ann: {identities: [approval link]}}":                             "proves nobody",
		"people: {ann: {identities: [nats agent/a]}}":                              "approves nothing",
		"people: {ann: {identities: [console a]}, bob: {identities: [console a]}}": "ann's already",
		"people: {ann: {agents: [nats agent/a]}, bob: {agents: [nats agent/a]}}":   "ann's already",
		"people: {ann: {agents: [console ann]}}":                                   "not a sender of events",
		"people: {ann: {identities: [console a]}}\nmodels: [console a]":            "ann's already",
		"people: {'a b': {}}":                             "letters, digits",
		"groups: {security: [ann]}":                       `no person "ann"`,
		"groups: {Sec: []}":                               "lower-case",
		"people: {ann: {}}\npeople: {bob: {}}":            "people",
		"approvals: [{hook: x, approvers: []}]":           "approvers are missing",
		"approvals: [{approvers: [{group: a}]}]":          "hook is missing",
		"approvals: [{hook: x, approvers: [{group: a}]}]": `no group "a"`,
		"people: {ann: {identities: [console a]}}\ngroups: {a: [ann]}\napprovals: [{hook: x, approvers: [{group: a, count: 2}]}]": "nobody could allow it",
		"people: {}\n---\npeople: {}": "one document",
	} {
		if _, err := people.Parse("groups.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "groups.yaml:") {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file)
	f.Add("people: {ann: {identities: [console ann]}}\ngroups: {a: [ann]}")
	f.Add("groups:\n a: !0\n0\n  -0")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := people.Parse("groups.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, nobody := range []string{"", "unauthenticated", "approval link", "console token", "ann"} {
			if p.Person(nobody) != "" || p.Model(nobody) {
				t.Errorf("%q is somebody", nobody)
			}
		}
	})
}
