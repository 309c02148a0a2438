package why

import "strings"

// Prefixes that workers use for rules outside of files: those of the starter policy of hook-router,
// and those that are built into a guard.
const (
	starter = "built-in:"
	builtIn = " built in: "
)

// RuleText returns a rule in a form for people. Workers identify a rule by its file, line and
// position, such as "guards.yaml:9 cel.rules[2]", which is returned unchanged. A rule that is built
// into a guard, or is in the starter policy, is described as such.
func RuleText(rule string) string {
	text, policy := strings.CutPrefix(rule, starter)
	place, what, _ := strings.Cut(text, " ")
	guard, builtin, own := strings.Cut(" "+what, builtIn)
	switch guard = strings.TrimSpace(guard); {
	case !policy && !own:
		return rule
	case own:
		what = "built into " + guard + ": " + builtin
	}
	if policy {
		place = "starter policy, " + place
	}
	if what == "" {
		return place
	}
	return what + " (" + place + ")"
}
