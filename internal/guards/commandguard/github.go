package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	ghOptions = shell.Options{Values: "fFX", Long: "--field= --raw-field= --method="}
	ghJoined  = regexp.MustCompile(`^-[a-zA-Z]*[fFX]|^--(method|field|raw-field)`)
	mutation  = regexp.MustCompile(`(?i)\bmutation\b`)
)

// cloneOption matches an option of git clone that runs a program or sets git's configuration.
var cloneOption = regexp.MustCompile(`^(-[a-zA-Z]*[uc]|--(u|co|te))`)

// clonesOtherwise reports whether gh passes such an option to git, after a --.
func clonesOtherwise(c shell.Command) bool {
	args := c.Args()
	at := slices.IndexFunc(args, func(w shell.Word) bool { return w.Text == "--" })
	return at >= 0 && c.Verb() == "repo" && slices.ContainsFunc(args[at:], func(w shell.Word) bool { return !w.Known || cloneOption.MatchString(w.Text) })
}

// asksGitHub reports whether gh api only reads: by GET, or by a literal GraphQL query. Sending the
// contents of a file is not reading. It also rejects the rerun of a whole workflow run, and clones
// with options that run a program.
func asksGitHub(c shell.Command) bool {
	if slices.Contains(c.Verbs(2), "rerun") { // rerunning a whole run may repeat a deployment
		return shell.Option(c, "--failed") == shell.Yes
	}
	if c.Verb() != "api" {
		return !clonesOtherwise(c)
	}
	if shell.Option(c, "--input") != shell.No {
		return false
	}
	fields, queried, get := false, false, false
	for a := range ghOptions.Each(c.Args()) {
		value := strings.TrimPrefix(a.Value.Text, "=")
		key, text, _ := strings.Cut(value, "=")
		switch {
		case a.Many && !a.Known, !a.Takes && ghJoined.MatchString(a.Text):
			return false
		case !a.Takes:
		case a.Name == "-X" || a.Name == "--method":
			if get = value == "GET"; !get {
				return false
			}
		case strings.HasPrefix(text, "@") || !a.Value.Known && (key == "query" || strings.Contains(text, "`") || strings.Contains(text, "$(")) || key == "query" && mutation.MatchString(text):
			return false
		default:
			fields, queried = true, queried || key == "query"
		}
	}
	words := operands(c)
	graphql := slices.ContainsFunc(words[:min(2, len(words))], func(w shell.Word) bool { return w.Known && w.Text == "graphql" })
	return !fields || get && !graphql || graphql && queried
}
