package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// naming are verbs that may name a branch. If the current branch's name begins with +, pushing
	// it is a forced push.
	naming  = strings.Fields("branch switch worktree fetch checkout pull")
	forcing = regexp.MustCompile(`^\+|:\+|refs/heads/\+`)
	unnamed = regexp.MustCompile("^[$`]")

	gitSecret = regexp.MustCompile(`(?i)extraheader|credential|token|passw|insteadof`)
	// remoteName matches the name of a configured remote. A URL may lead to anyone.
	remoteName = regexp.MustCompile(`^[\w][\w.-]*(/[\w.-]+)*$`)
	// pushing are options of git push that neither select the destination nor harm it.
	pushing = regexp.MustCompile(`^(-[unvq46d]+|--(set-upstream|(no-)?follow-tags|tags|all|branches|dry-run|verbose|quiet|porcelain|progress|no-progress|atomic|no-verify|verify|no-signed|signed|thin|no-thin|ipv4|ipv6|delete|force-with-lease(=.*)?|force-if-includes|recurse-submodules=.*|push-option=.*))$`)
)

// safeGitCommand reports whether git loses no work and pushes to the usual remote only. A remote
// with another name or a URL may belong to anyone, and the settings of a remote may contain a
// token.
func safeGitCommand(c shell.Command) bool {
	verb := c.Verb()
	has := func(options ...string) bool {
		return slices.ContainsFunc(options, func(o string) bool { return shell.Option(behind(c, verb), o) != shell.No })
	}
	words := operands(behind(c, verb))
	if slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return strings.HasPrefix(w.Text, "--git-dir") && !ownRepository(c, w) }) {
		return false // settings in it may run a program
	}
	if slices.Contains(naming, verb) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return forcing.MatchString(w.Text) || !w.Known && unnamed.MatchString(w.Text)
	}) {
		return false
	}
	switch verb {
	case "gc":
		return !has("--prune*")
	case "apply", "am":
		return !has("--unsafe-paths") && hasLiteralArguments(c)
	case "config":
		everywhere := has("--global", "--system")
		return !aimsAt(c, gitSecret) && (!everywhere || shell.Option(c, "--get") == shell.Yes || shell.Option(c, "--list") == shell.Yes || shell.Option(c, "-l") == shell.Yes)
	case "update-index": // otherwise a later checkout writes a file that no tool has written
		return !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return strings.HasPrefix(w.Text, "--cache") || strings.HasPrefix(w.Text, "--index-i") || !w.Known && w.Many
		})
	case "push":
		return pushesHere(behind(c, verb))
	case "lfs":
		return len(words) < 2 || words[0].Text != "push" || words[1].Text == "origin"
	case "maintenance":
		return len(words) > 0 && words[0].Text == "run"
	case "reset":
		return !has("--keep")
	case "tag":
		return !has("-f", "--force")
	case "switch":
		return !has("-C", "--force-create")
	case "checkout":
		return !has("-B")
	case "restore":
		return !has("--source", "-s") || !slices.ContainsFunc(words, func(w shell.Word) bool {
			return !w.Known || !strings.Contains(strings.TrimLeft(w.Text, "./"), ".") && !strings.Contains(w.Text, "~") && !strings.Contains(w.Text, "^") && w.Text != "HEAD"
		})
	}
	return movesNothing(verb, words, has)
}

// gitDirectory matches the git directory of a project, whose settings path-guard protects.
var gitDirectory = regexp.MustCompile(`(^|/)\.git(/(worktrees|modules)/[\w./-]+)?/?$`)

// ownRepository reports whether the option --git-dir names such a directory.
func ownRepository(c shell.Command, option shell.Word) bool {
	_, dir, joined := strings.Cut(option.Text, "=")
	if at := slices.IndexFunc(c.Args(), func(w shell.Word) bool { return w.Text == option.Text }); !joined && at+1 < len(c.Args()) {
		dir = c.Args()[at+1].Text
	}
	return strings.Trim(option.Text, "-") == "git-dir" && c.Verb() == "rev-parse" || gitDirectory.MatchString(dir) && !strings.Contains(dir, "/../")
}

// movesNothing reports whether branches keep their commits, and fetches use a configured remote.
func movesNothing(verb string, words []shell.Word, has func(...string) bool) bool {
	switch verb {
	case "branch":
		if has("-u", "--set-upstream-to") && !slices.ContainsFunc(words, func(w shell.Word) bool { return strings.HasPrefix(w.Text, "origin/") }) {
			return has("--set-upstream-to=origin/*")
		}
		return !has("-f", "--force", "-C") && (!has("-M") || len(words) < 2)
	case "fetch", "pull":
		refspec := slices.ContainsFunc(words, func(w shell.Word) bool { return strings.Contains(w.Text, ":") })
		return !(refspec && has("-f", "--force")) && (len(words) == 0 || !words[0].Known || remoteName.MatchString(words[0].Text) || words[0].Text == ".")
	case "rebase": // without a branch operand, the current branch loses commits
		return !has("--onto") || len(words) > 2
	case "remote":
		return len(words) == 0 || !slices.Contains(strings.Fields("rename remove rm set-url"), words[0].Text) || len(words) > 1 && words[0].Text != "set-url" && words[1].Known && words[1].Text != "origin" && (len(words) == 2 || words[2].Text != "origin")
	}
	return true
}

// behind returns a command with only the words after its verb.
func behind(c shell.Command, verb string) shell.Command {
	at := slices.IndexFunc(c.Args(), func(w shell.Word) bool { return w.Text == verb })
	c.Words = append(c.Words[:1:1], c.Args()[at+1:]...)
	return c
}

// pushesHere reports whether a git push with these words goes to the usual remote.
func pushesHere(c shell.Command) bool {
	var words []shell.Word
	for a := range (shell.Options{Long: "-o= --push-option="}).In(c.Args()) {
		switch {
		case a.Name == "":
			words = append(words, a.Word)
		case a.Text != "--" && (!a.Takes || a.Joined) && !pushing.MatchString(a.Text):
			return false
		}
	}
	return len(words) == 0 || words[0].Text == "origin"
}
