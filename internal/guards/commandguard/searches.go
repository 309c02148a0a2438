package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// keyText matches patterns that search for API keys by their form.
var keyText = regexp.MustCompile(`AKIA|ASIA[A-Z0-9\[]|\bgh[pousr]_|github_pat_|\bsk[-_](live|ant|proj)|\bxox[abprs\[]|glpat-|PRIVATE.KEY|\bAIza`)

// searchesKeys reports whether a command prints keys wherever they are: it searches for their form,
// or searches all files of the project including those that git ignores.
func searchesKeys(c shell.Command) shell.Found {
	name := c.Name()
	counts := func(letter string) int {
		n := 0
		for _, w := range c.Args() {
			if strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && w.Known {
				n += strings.Count(w.Text, letter)
			}
		}
		return n
	}
	long := func(options ...string) bool {
		return slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			option, _, _ := strings.Cut(w.Text, "=")
			return slices.Contains(options, option)
		})
	}
	verb := c.Verb()
	switch {
	case counts("l")+counts("q")+counts("c") > 0, long("--files-with-matches", "--count", "--quiet", "--files"):
		return shell.No
	case name == "git" && verb == "log" && !long("-p", "-u", "--patch", "-U0"), name == "git" && verb != "log" && verb != "grep":
		return shell.No
	case strings.HasSuffix(name, "grep") && counts("r")+counts("R")+counts("o") == 0 && !long("--recursive", "--only-matching") && name != "git":
		return shell.No
	case !slices.Contains([]string{"git", "grep", "egrep", "fgrep", "rg", "ag", "ack"}, name):
		return shell.No
	}
	if c.AnyArg(keyText.MatchString) {
		return shell.Yes
	}
	whole := counts("u") > 1 || long("--no-ignore") && (long("--hidden") || counts(".") > 0)
	if name != "rg" || !whole || counts("g")+counts("t") > 0 || long("--glob", "--iglob", "--type") {
		return shell.No
	}
	places := operands(c)[min(1, len(operands(c))):]
	c.Words = append(c.Words[:1:1], places...)
	return max(shell.FoundIf(len(places) == 0), here(c))
}
