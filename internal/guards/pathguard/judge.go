package pathguard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/shorten"
)

// judge evaluates one access.
func (p policy) judge(a access) decision.Finding {
	if pattern, rule, found := a.among("deny", p.deny); found {
		return denied(a, "touch", pattern, rule)
	}
	if pattern, rule, found := a.among("deny_write", p.denyWrite); found && a.writes {
		return denied(a, "write", pattern, rule)
	} else if found && a.unsure {
		return p.unsure(a, pattern, rule)
	}
	if !a.glob && !a.below && slices.ContainsFunc(p.allow, a.path.Is) {
		return decision.Finding{Decision: decision.Allow}
	}
	if pattern, rule, found := a.among("", p.secrets); found && !slices.ContainsFunc(notSecret(), a.path.Is) && !a.isPublic() && !p.isNewKey(a) {
		return denied(a, "touch", pattern, rule)
	}
	if p.secrets != nil && holdsCredentials(a.path) && !a.isPublic() {
		return decision.Finding{Decision: decision.Deny, Reason: fmt.Sprintf("This guard doesn't let an agent touch %s: by its name it keeps an account", clip(a.path.Name())), Rule: decision.BuiltIn("files of accounts")}
	}
	if pattern, rule, found := a.among("", p.settings); found && !slices.ContainsFunc(scratch(), a.path.Is) {
		switch {
		case a.writes:
			return denied(a, "write", pattern, rule)
		case a.unsure:
			return p.unsure(a, pattern, rule)
		}
	}
	if a.path.Unclear {
		return p.whereUnclear("where %s is can't be known", clip(a.path.Text))
	}
	if f := p.partly(a); f.Decision != "" {
		return f
	}
	if a.pours && p.outside != decision.Allow && p.root.Text != "" && p.root.Below(a.path) {
		return decision.Finding{Decision: p.outside, Reason: fmt.Sprintf("files whose names nobody knows replace those of %s", clip(a.path.Name())), Rule: decision.Option("outside")}
	}
	return p.within(a)
}

// partly finds protected files below a path, or among the matches of a glob.
func (p policy) partly(a access) decision.Finding {
	own, builtIn := p.deny, p.secrets
	if a.writes || a.unsure {
		own, builtIn = slices.Concat(own, p.denyWrite), slices.Concat(builtIn, p.settings)
	}
	for i, pattern := range slices.Concat(own, builtIn) {
		switch {
		case (a.below || a.fills && a.path.KeepsSettings()) && (a.path.Holds(pattern) || a.glob && a.path.GlobHolds(pattern) && (i < len(p.deny) || !a.sweeps(pattern))):
			return p.whereUnclear("%s holds what must not be touched: %s", clip(a.path.Name()), pattern)
		case (a.glob && a.path.Globbed(pattern) || a.deep && a.path.Named(pattern)) && (i < len(p.deny) || !a.sweeps(pattern)):
			return p.whereUnclear("%s may be what must not be touched: %s", clip(a.path.Name()), pattern)
		}
	}
	return decision.Finding{}
}

// within checks an access against only and only_write, and against the agent's directory.
func (p policy) within(a access) decision.Finding {
	if len(p.only) > 0 && !slices.ContainsFunc(p.only, a.path.Is) {
		return decision.Finding{Decision: decision.Deny, Reason: fmt.Sprintf("%s is outside of what this guard lets an agent touch", clip(a.path.Name())), Rule: decision.Option("only")}
	}
	if len(p.onlyWrite) > 0 && !slices.ContainsFunc(p.onlyWrite, a.path.Is) && !slices.ContainsFunc(scratch(), a.path.Is) {
		switch {
		case a.writes:
			return decision.Finding{Decision: decision.Deny, Reason: fmt.Sprintf("%s is outside of what this guard lets an agent write", clip(a.path.Name())), Rule: decision.Option("only_write")}
		case a.unsure && len(p.only) == 0:
			return p.whereUnclear("%s may be written, and is outside of what this guard lets an agent write", clip(a.path.Name()))
		}
	}
	if p.outside != decision.Allow && a.writes && !a.path.Below(p.root) && !slices.ContainsFunc(everybodys(), a.path.Is) {
		return decision.Finding{Decision: p.outside, Reason: fmt.Sprintf("%s is outside of the directory where the agent works", clip(a.path.Name())), Rule: decision.Option("outside")}
	}
	return decision.Finding{Decision: decision.Allow}
}

// among returns the first pattern in the list of an option that a path may match, and its rule. An
// empty option means the built-in list.
func (a access) among(option string, list []paths.Pattern) (pattern paths.Pattern, rule string, found bool) {
	i := slices.IndexFunc(list, a.path.MayBe)
	switch {
	case i < 0:
		return paths.Pattern{}, "", false
	case option == "":
		return list[i], decision.BuiltIn(list[i].String()), true
	}
	return list[i], decision.Listed(option, i, list[i]), true
}

func denied(a access, verb string, pattern paths.Pattern, rule string) decision.Finding {
	return decision.Finding{Decision: decision.Deny, Reason: fmt.Sprintf("This guard doesn't let an agent %s %s (%s)", verb, clip(a.path.Name()), pattern), Rule: rule}
}

func (p policy) unsure(a access, pattern paths.Pattern, rule string) decision.Finding {
	return decision.Finding{Decision: p.unclear, Reason: fmt.Sprintf("%s must not be written (%s), and whether it would be is not known", clip(a.path.Name()), pattern), Rule: rule}
}

// whereUnclear returns a finding with the decision of the option unclear.
func (p policy) whereUnclear(format string, args ...any) decision.Finding {
	return decision.Finding{Decision: p.unclear, Reason: fmt.Sprintf(format, args...), Rule: decision.Option("unclear")}
}

// clip shortens a text to one line and replaces control characters.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\ufffd'
		}
		return r
	}, text)
	return shorten.Runes(text, 200, "…")
}
