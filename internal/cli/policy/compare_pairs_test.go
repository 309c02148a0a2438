package policy

import (
	"fmt"
	"testing"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/pkg/audit"
)

// A hook that a version in shadow did not call counts as continue, unless routers dropped the call.
func TestWhatIsCompared(t *testing.T) {
	t.Parallel()
	answer := func(chain, hook, policy, action string) *query.Record {
		return &query.Record{Kind: audit.HookResult, ChainID: chain, Hook: hook, Policy: policy, Action: action, Shadow: policy == "p@2 x"}
	}
	skipped := func(chain, hook string) *query.Record {
		return &query.Record{Kind: audit.HookSkipped, ChainID: chain, Hook: hook, Action: "skipped"}
	}
	for name, c := range map[string]struct {
		records []*query.Record
		want    string
	}{
		"both":                   {[]*query.Record{answer("c1", "a-shadow", "p@2 x", "deny"), answer("c1", "a", "p@1 x", "continue")}, "a continue deny;"},
		"a match that is false":  {[]*query.Record{skipped("c1", "a-shadow"), answer("c1", "a", "p@1 x", "deny")}, "a deny continue;"},
		"of another policy":      {[]*query.Record{skipped("c1", "a-shadow"), answer("c1", "a", "q@1 x", "deny")}, ""},
		"a hook that it has not": {[]*query.Record{answer("c1", "b-shadow", "p@2 x", "continue"), answer("c1", "b", "p@1 x", "continue"), answer("c1", "a", "p@1 x", "deny")}, "b continue continue;a deny continue;"},
		"nothing was in shadow":  {[]*query.Record{answer("c1", "a", "p@1 x", "deny")}, ""},
		"a call that a router dropped": {[]*query.Record{
			answer("c0", "a-shadow", "p@2 x", "deny"), answer("c0", "a", "p@1 x", "deny"),
			answer("c1", "b-shadow", "p@2 x", "continue"), answer("c1", "a", "p@1 x", "deny"),
		}, "a deny deny;b continue continue;"},
		"a call in vain": {[]*query.Record{{Kind: audit.HookSkipped, ChainID: "c1", Hook: "a-shadow", Action: "in_vain"}, answer("c1", "a", "p@1 x", "deny")}, ""},
	} {
		p := pairs{policy: "p@", of: map[string]*answers{}, in: map[string]string{}}
		for _, r := range c.records {
			p.add(r)
		}
		got := ""
		p.each(func(a *answers, version string) {
			d, _ := a.differ(version)
			got += fmt.Sprintf("%s %s %s;", d.Hook, d.Enforced, d.Shadow)
		})
		if got != c.want {
			t.Errorf("%s: %q; want %q", name, got, c.want)
		}
	}
}
