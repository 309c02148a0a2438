package chain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
)

func TestWhoseApprovalARegistrationTakes(t *testing.T) {
	for body, want := range map[string]string{
		`{"approvers":[{"group":"security"},{"group":"oncall","count":2}],"exclude_requester":true}`: "",
		`null`:                            "",
		`{}`:                              "approvers are missing",
		`{"exclude_requester":true}`:      "approvers are missing",
		`{"approvers":[{"group":"Sec"}]}`: "lower-case",
		`{"approvers":[{"count":1}]}`:     `group ""`,
		`{"approvers":[{"group":"a"},{"group":"a"}]}`:                     "named twice",
		`{"approvers":[{"group":"a","count":-1}]}`:                        "1 to 16",
		`{"approvers":[{"group":"a","count":9},{"group":"b","count":9}]}`: "16 people",
		`{"approver":[{"group":"a"}]}`:                                    "approver",
		`{"approvers":[{"group":"a","people":2}]}`:                        "people",
		`{"approvers":[{"group":"a"}],"exclude_requestor":true}`:          "exclude_requestor",
		`"security"`: "approval must be like",
	} {
		r, _, err := chain.ParseRegistration("gate", []byte(`{"events":["tool:pre"],"protocol":9,"approval":`+body+`}`), 9)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", body, err, want)
		}
		if want == "" && body != "null" && (r.Approval.People() != 3 || !r.Approval.ExcludeRequester) {
			t.Errorf("%s: read as %+v", body, r.Approval)
		}
	}
	if _, _, err := chain.ParseRegistration("gate", []byte(`{"channels":["c"],"approval":{"approvers":[{"group":"a"}]}}`), 1); err == nil {
		t.Error("a contributor asks nobody")
	}
	one := chain.Registration{ID: "gate", Events: []string{"*"}}
	other := one
	other.Approval = &chain.Approval{Approvers: []chain.Approvers{{Group: "a"}}}
	if one.Content() == other.Content() {
		t.Error("with and without an approval it is the same hook")
	}
}

// Whatever takes more is what counts.
func TestStricter(t *testing.T) {
	of := func(exclude bool, list ...chain.Approvers) *chain.Approval {
		return &chain.Approval{Approvers: list, ExcludeRequester: exclude}
	}
	if chain.Stricter() != nil || chain.Stricter(nil, nil) != nil {
		t.Error("of nothing comes something")
	}
	first := of(false, chain.Approvers{Group: "a"}, chain.Approvers{Group: "b", Count: 2})
	got := chain.Stricter(first, nil, of(true, chain.Approvers{Group: "a", Count: 3}, chain.Approvers{Group: "b"}, chain.Approvers{Group: "c"}))
	want := of(true, chain.Approvers{Group: "a", Count: 3}, chain.Approvers{Group: "b", Count: 2}, chain.Approvers{Group: "c"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if first.Approvers[0].Count != 0 {
		t.Error("what was there has changed")
	}
}
