package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Rule answers approval requests before anyone is asked. What is given of Hook, Tool and
// Prompt must match, and at least one is given. They are globs for the whole
// text: * is any run of characters, line breaks too, and ? is any one. Command, Cwd, Labels,
// Emitter and Lineage must hold where they are given: without them a rule answers for every
// call and every session.
type Rule struct {
	Name     string `json:"name"`     // for people and the record
	Decision string `json:"decision"` // "allow" or "deny"
	Hook     string `json:"hook,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Prompt   string `json:"prompt,omitempty"`

	// Mode is "shadow" for a rule that answers nothing: what it would answer is recorded, and
	// a person is asked. Empty means that it is in force.
	Mode string `json:"mode,omitempty"`
	// Command is a plain command of a shell, see [PlainCommand], which must be the whole call.
	// docs/*.md stands for a file right in a directory: one word, no hidden file, and none
	// whose name speaks of secrets or rights, such as docs/token.md.
	Command string `json:"command,omitempty"`
	Cwd     string `json:"cwd,omitempty"` // the directory that a command runs in, letter by letter

	Labels  *LabelCondition   `json:"labels,omitempty"`
	Emitter *EmitterCondition `json:"emitter,omitempty"`
	Lineage *LineageCondition `json:"lineage,omitempty"`
}

// Shadow is the [Rule.Mode] of a rule that is tried out.
const Shadow = "shadow"

// Rules are the persistent rules of a router, in the order of their file. The
// zero Rules decide nothing.
type Rules []Rule

// Decide is [Rules.Match] where nothing is known of the session and nobody is proven.
func (r Rules) Decide(hook, tool, prompt string) (rule Rule, found bool) {
	return r.Match(Facts{Hook: hook, Tool: tool, Prompt: prompt})
}

// Match returns the rule for an approval request, where there is one. A deny that matches
// wins over every allow; among equals the first does. Rules in shadow answer nothing, and
// where [Facts.DenyOnly] holds, rules that allow do not either.
func (r Rules) Match(f Facts) (rule Rule, found bool) { return r.match(f, "") }

// Shadow returns the rule in shadow that would answer an approval request for which no rule is
// in force, where there is one. Among several it is chosen as [Rules.Match] does.
func (r Rules) Shadow(f Facts) (rule Rule, found bool) {
	if _, answered := r.Match(f); answered {
		return Rule{}, false
	}
	return r.match(f, Shadow)
}

// Enforced are the rules as if none were in shadow.
func (r Rules) Enforced() Rules {
	all := slices.Clone(r)
	for i := range all {
		all[i].Mode = ""
	}
	return all
}

func (r Rules) match(f Facts, mode string) (rule Rule, found bool) {
	for _, decision := range [...]string{DefaultDeny, DefaultAllow} {
		if decision == DefaultAllow && f.DenyOnly {
			break
		}
		i := slices.IndexFunc(r, func(rule Rule) bool {
			return rule.Mode == mode && rule.Decision == decision && rule.matches(f)
		})
		if i >= 0 {
			return r[i], true
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

// Decided is the decision that the rule makes, which [Reason] tells from a
// person's.
func (r Rule) Decided(now time.Time) Decision {
	return Decision{Granted: r.Decision == DefaultAllow, DecidedBy: byRule + r.Name, Decided: At(now)}
}

// String is the rule in one line, for people.
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

// Glob reports whether pattern matches the whole text, as in a [Rule]: * is any run
// of characters, and ? is any one. The time is at most the product of the lengths.
func Glob(pattern, text string) bool {
	p, t := 0, 0
	// A star takes as little as it can, and only the last one met is ever tried again:
	// what an earlier one could take, the later can too.
	star, resume := -1, 0 // the last star, and where the text goes on behind it
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

// next is where the character behind the one at i begins.
func next(text string, i int) int {
	_, size := utf8.DecodeRuneInString(text[i:])
	return i + size
}
