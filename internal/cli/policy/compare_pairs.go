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

// pairs puts the answers of a version in shadow beside those of the enforced one.
type pairs struct {
	policy string // what the policy's versions begin with
	of     map[string]*answers
	order  []*answers
	in     map[string]string // the version in shadow, by chains in which it answered
}

// add takes a record of a hook: an answer, a failure, or that its match was false.
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

// each gives what is compared, and the version in shadow. A hook that this version did not ask, since
// its match was false or it has no such hook, continues there. Routers drop calls in shadow when too
// many are under way: a hook that the version asked at another time is left out.
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

// version is the one in shadow that the answers are compared with; empty for none.
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

// differ compares what the two did.
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

// did says what a hook answered, with the labels that it set.
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

// made is what a hook made of the data; empty if that is nothing or not in the log.
func made(r *query.Record) string {
	if r == nil || r.Data == nil {
		return ""
	}
	return string(r.Data.Value)
}
