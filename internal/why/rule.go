package why

import "strings"

// What workers write of rules that nobody wrote down: the policy that comes with hook-router, and
// what a guard knows by itself.
const (
	starter = "built-in:"
	builtIn = " built in: "
)

// RuleText is a rule for people. Workers name it by its file, its line and where it stands there,
// which is left as it is, such as "guards.yaml:9 cel.rules[2]". A rule that is built into a
// guard, or stands in the starter policy, says so.
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
