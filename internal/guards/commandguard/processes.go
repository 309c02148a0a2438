package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// showsProcesses: the environment of a process is shown by e, and elsewhere by -E.
func showsProcesses(c shell.Command) bool {
	return !aimsAt(withoutValues(c), showsEnvironment) && shell.Option(withoutNumbers(c), "-E") == shell.No
}

// valuedOfPS are options of ps that a value follows in a word of its own.
var valuedOfPS = regexp.MustCompile(`^-[a-zA-Z]*[oCuUpgGst]$`)

// withoutValues is ps without what its options are told: vite of -C vite.
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

// numbers is what prints the numbers of processes, and nothing else.
var numbers = regexp.MustCompile(`^\$\((lsof -t\w*|pidof|pgrep)( -[dfnoxuPi]+,?| [\w:.,/@'"][\w:.,/@'"-]*)*\)$`)

// withoutNumbers is a command without the words that are numbers of processes.
func withoutNumbers(c shell.Command) shell.Command {
	c.Words = slices.DeleteFunc(slices.Clone(c.Words), func(w shell.Word) bool {
		return !w.Known && numbers.MatchString(w.Text)
	})
	return c
}

const stopsGuardsReason = "it may stop what guards the agent"

var (
	// quoting is what a pattern or a shell does not see in a name: [h]ook-router.
	quoting     = strings.NewReplacer("[", "", "]", "", `\`, "", "'", "", `"`, "")
	ownPrograms = regexp.MustCompile(`(?i)hook-?(router|worker|agent|ctl)`)
	natsServer  = regexp.MustCompile(`(?i)\bnats\b|:(4222|8222|6222)\b`)
	variable    = regexp.MustCompile(`^\$(!|\w+|\{\w+\})$`)
	stoppers    = strings.Fields("kill pkill killall skill fuser")
)

// stopsGuards reports whether a line names what guards the agent, in whatever part, and stops
// processes: those of NATS where they are found by a pipe or $(…), and not by a variable.
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
