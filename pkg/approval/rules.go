package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Rule answers approval requests before anyone is asked. Hook, Tool and Prompt are globs for the
// whole text: * matches any run of characters, including line breaks, and ? matches any one. At
// least one is required, and all conditions that are set must hold. A rule without Command, Cwd,
// Labels, Emitter and Lineage applies to every call and session.
type Rule struct {
	Name     string `json:"name"`     // for people and the audit log
	Decision string `json:"decision"` // "allow" or "deny"
	Hook     string `json:"hook,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Prompt   string `json:"prompt,omitempty"`

	// Mode is "shadow" for a rule that only records what it would answer while a person is asked.
	// Empty means that it is in force.
	Mode string `json:"mode,omitempty"`
	// Command is a plain shell command (see [PlainCommand]) that must be the whole call. docs/*.md
	// matches a single file in that directory. It does not match hidden files, or names that
	// suggest secrets or rights, such as docs/token.md.
	Command string `json:"command,omitempty"`
	Cwd     string `json:"cwd,omitempty"` // the exact working directory of the command

	Labels  *LabelCondition   `json:"labels,omitempty"`
	Emitter *EmitterCondition `json:"emitter,omitempty"`
	Lineage *LineageCondition `json:"lineage,omitempty"`
}

// Shadow is the [Rule.Mode] of a rule that is not in force.
const Shadow = "shadow"

// Rules are the persistent rules of a router, in file order. The zero Rules decide nothing.
type Rules []Rule

// Decide is [Rules.Match] for a session without known facts and an unproven sender.
func (r Rules) Decide(hook, tool, prompt string) (rule Rule, found bool) {
	return r.Match(Facts{Hook: hook, Tool: tool, Prompt: prompt})
}

// Match returns the rule in force that answers an approval request. A deny wins over every allow;
// otherwise the first match wins. If there are several [Facts.Questions], it returns the rule for
// the first question that has one. With [Facts.DenyOnly], rules that allow are ignored.
func (r Rules) Match(f Facts) (rule Rule, found bool) { return r.match(f, "") }

// Shadow returns the shadow rule that would answer an approval request if no rule in force does. It
// chooses among several as [Rules.Match] does.
func (r Rules) Shadow(f Facts) (rule Rule, found bool) {
	if _, answered := r.Match(f); answered {
		return Rule{}, false
	}
	return r.match(f, Shadow)
}

// Enforced returns a copy of the rules with all shadow rules in force.
func (r Rules) Enforced() Rules {
	all := slices.Clone(r)
	for i := range all {
		all[i].Mode = ""
	}
	return all
}

func (r Rules) match(f Facts, mode string) (rule Rule, found bool) {
	questions := f.each()
	for _, decision := range [...]string{DefaultDeny, DefaultAllow} {
		if decision == DefaultAllow && f.DenyOnly {
			break
		}
		answered := 0
		for _, q := range questions {
			i := slices.IndexFunc(r, func(rule Rule) bool {
				return rule.Mode == mode && rule.Decision == decision && rule.matches(q)
			})
			if i < 0 {
				continue
			}
			if answered++; answered == 1 {
				rule = r[i]
			}
		}
		if answered == len(questions) || answered > 0 && decision == DefaultDeny {
			return rule, true
		}
	}
	return Rule{}, false
}

func (r Rule) matches(f Facts) bool {
	return (r.Hook != "" || r.Tool != "" || r.Prompt != "") &&
		(r.Hook == "" || Glob(r.Hook, f.Hook)) &&
		(r.Tool == "" || Glob(r.Tool, f.Tool)) &&
		(r.Prompt == "" || Glob(r.Prompt, f.Prompt)) &&
		(r.Command == "" || commandMatches(r.Command, f.Command)) && (r.Cwd == "" || r.Cwd == f.Cwd) &&
		r.Labels.holds(f) && r.Emitter.holds(f) && r.Lineage.holds(f)
}

// Decided returns the rule's decision. [Reason] has its own text for it.
func (r Rule) Decided(now time.Time) Decision {
	return Decision{Granted: r.Decision == DefaultAllow, DecidedBy: byRule + r.Name, Decided: At(now)}
}

// String describes the rule in one line.
func (r Rule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Name, r.Decision)
	if r.Mode != "" {
		b.WriteString(" in " + r.Mode)
	}
	for _, given := range [...]struct{ name, glob string }{{"hook", r.Hook}, {"tool", r.Tool}, {"prompt", r.Prompt}} {
		if given.glob != "" {
			fmt.Fprintf(&b, " %s %q", given.name, given.glob)
		}
	}
	if conditions := r.Conditions(); conditions != "" {
		b.WriteString(" where " + conditions)
	}
	return b.String()
}

// Glob reports whether pattern matches the whole text, as in a [Rule]: * matches any run of
// characters, ? any one. It takes time proportional to the product of the lengths at most.
func Glob(pattern, text string) bool {
	p, t := 0, 0
	// A star matches as little as possible, and only the last one is retried: what an earlier star
	// could match, the last one can match too.
	star, resume := -1, 0 // the last star, and where the text after it resumes
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, t
			p++
		case p < len(pattern) && pattern[p] == '?':
			p, t = p+1, next(text, t)
		case p < len(pattern) && pattern[p] == text[t]:
			p, t = p+1, t+1
		case star >= 0:
			resume = next(text, resume)
			p, t = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// next returns the index of the character after the one at i.
func next(text string, i int) int {
	_, size := utf8.DecodeRuneInString(text[i:])
	return i + size
}
