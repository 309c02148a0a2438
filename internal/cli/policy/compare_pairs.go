package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/auditlog/query"
	"github.com/hookrouter/hookrouter/internal/bundle/follow"
	"github.com/hookrouter/hookrouter/pkg/audit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// pairs collects the answers of a version in shadow and those of the enforced one.
type pairs struct {
	policy string // the prefix of the policy's versions
	of     map[string]*answers
	order  []*answers
	in     map[string]string // the version in shadow, by the chains in which it answered
}

// add adds a record of a hook: an answer, a failure, or that its match was false.
func (p *pairs) add(r *query.Record) {
	hook, tried := strings.CutSuffix(r.Hook, follow.ShadowSuffix)
	skipped := r.Kind == audit.HookSkipped
	switch {
	case r.Hook == "", skipped && (!tried || r.Action != "skipped"), r.Shadow && !(tried && strings.HasPrefix(r.Policy, p.policy)):
		return
	case !skipped && !r.Shadow:
		hook = r.Hook
	}
	key := r.ChainID + " " + hook
	one := p.of[key]
	if one == nil {
		one = &answers{hook: hook}
		p.of[key], p.order = one, append(p.order, one)
	}
	if !skipped && !r.Shadow {
		one.enforced = r
		return
	}
	one.shadow = r
	if r.Shadow {
		p.in[r.ChainID] = r.Policy
	}
}

// each calls compare with each pair of answers and the version in shadow. A hook that this version
// did not call, because its match was false or the version does not have it, counts as continue.
// Routers drop calls in shadow when too many are in flight, so a hook that the version called at
// another time is left out.
func (p *pairs) each(compare func(a *answers, version string)) {
	asked := map[string]bool{}
	for _, a := range p.order {
		if a.shadow != nil {
			asked[p.version(a)+" "+a.hook] = true
		}
	}
	for _, a := range p.order {
		version := p.version(a)
		if version != "" && (a.shadow != nil || !asked[version+" "+a.hook]) {
			compare(a, version)
		}
	}
}

// version returns the version in shadow to compare the answers with, or "" if there is none.
func (p *pairs) version(a *answers) string {
	switch {
	case a.shadow != nil && a.shadow.Shadow:
		return a.shadow.Policy
	case a.enforced == nil || !strings.HasPrefix(a.enforced.Policy, p.policy):
		return ""
	case a.shadow != nil:
		return cmp.Or(p.in[a.enforced.ChainID], strings.TrimSuffix(p.policy, "@"))
	}
	return p.in[a.enforced.ChainID]
}

// differ compares the two answers.
func (a *answers) differ(version string) (difference, bool) {
	r := cmp.Or(a.shadow, a.enforced)
	d := difference{"difference", r.ChainID, r.Session, r.Event, r.Time, a.hook, did(a.enforced), did(a.shadow), "", version}
	if a.shadow != nil {
		d.Reason = a.shadow.Reason
	}
	if d.Enforced == d.Shadow && made(a.enforced) != made(a.shadow) {
		d.Shadow += " with other data"
	}
	return d, d.Enforced != d.Shadow
}

// did describes what a hook answered, with the labels that it set.
func did(r *query.Record) string {
	switch {
	case r == nil || r.Kind == audit.HookSkipped:
		return string(chain.Continue)
	case r.Failure != "":
		return "failed (" + r.Failure + ")"
	}
	text := cmp.Or(r.Action, string(chain.Continue))
	if len(r.Labels) > 0 {
		text += ", labels " + strings.Join(slices.Sorted(slices.Values(r.Labels)), " ")
	}
	return text
}

// made returns the data that a hook modified, or "" if it modified none or the log does not have
// it.
func made(r *query.Record) string {
	if r == nil || r.Data == nil {
		return ""
	}
	return string(r.Data.Value)
}
