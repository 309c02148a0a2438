package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// showsProcesses reports whether ps prints no environment variables, as it does with e, or with -E
// on some systems.
func showsProcesses(c shell.Command) bool {
	return !aimsAt(withoutValues(c), showsEnvironment) && shell.Option(withoutNumbers(c), "-E") == shell.No
}

// valuedOfPS matches options of ps whose value is the next word.
var valuedOfPS = regexp.MustCompile(`^-[a-zA-Z]*[oCuUpgGst]$`)

// withoutValues returns ps without the values of its options, such as vite in -C vite.
func withoutValues(c shell.Command) shell.Command {
	words := c.Words
	c.Words = nil
	for i, w := range words {
		if i < 2 || !valuedOfPS.MatchString(words[i-1].Text) || strings.HasPrefix(w.Text, "-") {
			c.Words = append(c.Words, w)
		}
	}
	return c
}

// numbers matches a substitution that prints only process IDs.
var numbers = regexp.MustCompile(`^\$\((lsof -t\w*|pidof|pgrep)( -[dfnoxuPi]+,?| [\w:.,/@'"][\w:.,/@'"-]*)*\)$`)

// withoutNumbers returns a command without the words that are process IDs.
func withoutNumbers(c shell.Command) shell.Command {
	c.Words = slices.DeleteFunc(slices.Clone(c.Words), func(w shell.Word) bool {
		return !w.Known && numbers.MatchString(w.Text)
	})
	return c
}

const stopsGuardsReason = "it may stop what guards the agent"

var (
	// quoting removes the characters with which a pattern or a shell can disguise a name:
	// [h]ook-router.
	quoting     = strings.NewReplacer("[", "", "]", "", `\`, "", "'", "", `"`, "")
	ownPrograms = regexp.MustCompile(`(?i)hook-?(router|worker|agent|ctl)`)
	natsServer  = regexp.MustCompile(`(?i)\bnats\b|:(4222|8222|6222)\b`)
	variable    = regexp.MustCompile(`^\$(!|\w+|\{\w+\})$`)
	stoppers    = strings.Fields("kill pkill killall skill fuser")
)

// stopsGuards reports whether a line names a component that guards the agent anywhere, and stops
// processes. For NATS, the processes must come from a pipe or $(…), not from a variable.
func stopsGuards(line string, commands []shell.Command) bool {
	line = quoting.Replace(line)
	own := ownPrograms.MatchString(line)
	if !own && !natsServer.MatchString(line) {
		return false
	}
	return slices.ContainsFunc(commands, func(c shell.Command) bool {
		words := operands(c)
		found := len(words) == 0 || slices.ContainsFunc(words, func(w shell.Word) bool { return !w.Known && !variable.MatchString(w.Text) })
		return slices.Contains(stoppers, c.Name()) && (own || found)
	})
}
