package approval_test

import (
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// A rule that asks of the session or its sender answers for those alone, and one that does
// not answers for all.
func TestRulesForSomeSessions(t *testing.T) {
	t.Parallel()
	ci := approval.Facts{Hook: "deploys", Emitter: "nats agent/ci-1", Role: "agent", Root: "s1"}
	with := func(f approval.Facts, change func(*approval.Facts)) approval.Facts { change(&f); return f }
	labels := func(names ...string) approval.Facts {
		return with(ci, func(f *approval.Facts) { f.Labels = names })
	}
	nobody := approval.Facts{Hook: "deploys", Root: "s1"}
	depth := func(n int) approval.Facts { return with(ci, func(f *approval.Facts) { f.Depth = n }) }
	for sentence, test := range map[string]struct {
		where   string // besides the hook
		yes, no []approval.Facts
	}{
		"nothing is asked":        {"tool: '*'", []approval.Facts{ci, nobody, labels("a"), depth(3)}, nil},
		"one of the labels":       {"labels: {any: [secret-*, b]}", []approval.Facts{labels("a", "b"), labels("secret-read")}, []approval.Facts{ci, labels("a")}},
		"none of the labels":      {"labels: {none: ['*']}", []approval.Facts{ci, nobody}, []approval.Facts{labels("a"), labels("a", "b")}},
		"one, and not another":    {"labels: {any: [a], none: [b]}", []approval.Facts{labels("a", "c")}, []approval.Facts{labels("a", "b"), ci}},
		"a sender":                {"emitter: {id: nats agent/ci-*}", []approval.Facts{ci}, []approval.Facts{nobody, with(ci, func(f *approval.Facts) { f.Emitter = "nats agent/coder" })}},
		"any proven id":           {"emitter: {id: '*'}", []approval.Facts{ci}, []approval.Facts{nobody}},
		"a role":                  {"emitter: {role: agent}", []approval.Facts{ci}, []approval.Facts{nobody, with(nobody, func(f *approval.Facts) { f.Role = "agent" }), with(ci, func(f *approval.Facts) { f.Role = "operator" })}},
		"somebody":                {"emitter: {proven: true}", []approval.Facts{ci}, []approval.Facts{nobody}},
		"nobody":                  {"emitter: {proven: false}", []approval.Facts{nobody}, []approval.Facts{ci}},
		"a tree":                  {"lineage: {root: s*}", []approval.Facts{ci}, []approval.Facts{with(ci, func(f *approval.Facts) { f.Root = "t1" })}},
		"no sub-agents":           {"lineage: {max_depth: 0}", []approval.Facts{depth(0)}, []approval.Facts{depth(1)}},
		"sub-agents of one depth": {"lineage: {min_depth: 1, max_depth: 1}", []approval.Facts{depth(1)}, []approval.Facts{depth(0), depth(2)}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			for _, decision := range []string{"allow", "deny"} {
				rules, err := approval.ParseRules("r", []byte("rules:\n  - decision: "+decision+"\n    hook: deploys\n    "+test.where))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range test.yes {
					if rule, found := rules.Match(f); !found || rule.Decision != decision {
						t.Errorf("%s: no answer for %+v", rules[0], f)
					}
				}
				for _, f := range test.no {
					if _, found := rules.Match(f); found {
						t.Errorf("%s: an answer for %+v", rules[0], f)
					}
				}
			}
		})
	}
}

func TestParseRulesRefusesConditions(t *testing.T) {
	t.Parallel()
	for where, want := range map[string]string{
		"labels: {all: [a]}":            `unknown key "all": known are any and none`,
		"labels: secret":                `must be a mapping`,
		"labels: {}":                    `rules[0].labels says nothing`,
		"labels: {any: a}":              `rules[0].labels.any must be a list`,
		"labels: {any: []}":             `rules[0].labels.any has 0 globs`,
		"labels: {any: [1]}":            `must be a text`,
		"labels: {none: ['']}":          `rules[0].labels.none is empty`,
		"emitter: {ID: x}":              `unknown key "ID": known are id, role and proven`,
		"emitter: {role: root}":         `rules[0].emitter.role must be agent, approver, operator or admin`,
		"emitter: {proven: 'yes'}":      `rules[0].emitter.proven must be true or false`,
		"lineage: {depth: 1}":           `unknown key "depth": known are root, min_depth and max_depth`,
		"lineage: {max_depth: -1}":      `rules[0].lineage.max_depth must be a number from 0 to 1000`,
		"lineage: {max_depth: '1'}":     `rules[0].lineage.max_depth must be a number`,
		"lineage: {min_depth: 1000000}": `rules[0].lineage.min_depth must be a number`,
		"lineage: {root: }":             `root has no value`,
	} {
		rules, err := approval.ParseRules("rules.yaml", []byte("rules:\n  - decision: allow\n    hook: h\n    "+where))
		if err == nil || !strings.HasPrefix(err.Error(), "rules.yaml:4:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want in it %q", where, rules, err, want)
		}
	}
	if _, err := approval.ParseRules("rules.yaml", []byte("rules: [{decision: allow, labels: {none: ['*']}}]")); err == nil || !strings.Contains(err.Error(), "matches everything") {
		t.Errorf("a rule without hook, tool and prompt: %v", err)
	}
}
