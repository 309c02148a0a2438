package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// pipeJoined matches a file option joined to a pipe, and pipeOption one whose value is the next
	// word.
	pipeJoined = regexp.MustCompile(`^(-[oL]|--(out|output|output-file|log-file)=)[|!]`)
	pipeOption = regexp.MustCompile(`^(-[oL]|--(out|output|output-file|log-file))$`)
	// pipedImage matches an image that ImageMagick reads from or writes to a program.
	pipedImage = regexp.MustCompile(`^(\w+:)?\|`)
	imaging    = strings.Fields("convert magick identify mogrify")
	// matching are programs whose operands may be patterns that begin with a |.
	matching = strings.Fields("grep egrep fgrep zgrep rg ag ack git")
)

// pipesOut reports whether a program is given a command in place of a file: psql, strace and others
// run the text after a |.
func pipesOut(c shell.Command) bool {
	args, name := c.Args(), c.Name()
	return !slices.Contains(matching, name) && slices.ContainsFunc(args, func(w shell.Word) bool {
		return pipeJoined.MatchString(w.Text) || slices.Contains(imaging, name) && pipedImage.MatchString(w.Text)
	}) || !slices.Contains(matching, name) && slices.ContainsFunc(args[:max(len(args)-1, 0)], func(w shell.Word) bool {
		return pipeOption.MatchString(w.Text)
	}) && slices.ContainsFunc(args, func(w shell.Word) bool { return strings.HasPrefix(w.Text, "|") || strings.HasPrefix(w.Text, "!") })
}

// upToArguments returns the words of gdb before the arguments of the program that it starts.
func upToArguments(args []shell.Word) []shell.Word {
	if at := slices.IndexFunc(args, func(w shell.Word) bool { return strings.TrimLeft(w.Text, "-") == "args" }); at >= 0 {
		return args[:at]
	}
	return args
}

var number = regexp.MustCompile(`^\d+$`)

// runsTmuxCommand matches a format for which tmux runs a command.
var runsTmuxCommand = regexp.MustCompile(`#\(`)

// leavesSessions reports whether tmux runs no command for a format, and ends at most one session,
// which must not be named like a component that guards the agent.
func leavesSessions(c shell.Command) bool {
	ends := slices.ContainsFunc(c.Verbs(1), func(v string) bool { return strings.HasPrefix(v, "kill-") })
	return !c.AnyArg(runsTmuxCommand.MatchString) &&
		!(ends && (shell.Option(c, "-a") != shell.No || namesGuards(c) || aimsAt(c, routerName)))
}

var attaches = regexp.MustCompile(`^--?(p|pid|c|core|x|command|ix|iex|init-\w+|cd|d|directory|ev[\w-]*)(=|$)`)

// importsOwn reports whether jq imports no modules, or only those of the project.
func importsOwn(c shell.Command) bool {
	return !aimsAt(c, imports) || !slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		return leadsAway.MatchString(w.Text)
	})
}

var (
	imports   = regexp.MustCompile(`\b(import|include)\s+"`)
	leadsAway = regexp.MustCompile(`^(-L|--library-path=)?(/|~|\.\.)|\b(import|include)\s+"(/|~|\.\.)|\bsearch\b`)
)
