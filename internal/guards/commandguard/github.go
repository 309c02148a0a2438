package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	ghField  = regexp.MustCompile(`^(-[fF]=?|--(?:raw-)?field=?)(.*)$`)
	ghMethod = regexp.MustCompile(`^(-X=?|--method=?)(.*)$`)
	ghJoined = regexp.MustCompile(`^-[a-zA-Z]*[fFX]`)
	mutation = regexp.MustCompile(`(?i)\bmutation\b`)
)

// cloneOption is an option of git clone that runs a program, or sets what git runs.
var cloneOption = regexp.MustCompile(`^(-[a-zA-Z]*[uc]|--(u|co|te))`)

// clonesOtherwise reports whether gh gives git such an option, behind a --.
func clonesOtherwise(c shell.Command) bool {
	args := c.Args()
	at := slices.IndexFunc(args, func(w shell.Word) bool { return w.Text == "--" })
	return at >= 0 && c.Verb() == "repo" && slices.ContainsFunc(args[at:], func(w shell.Word) bool { return !w.Known || cloneOption.MatchString(w.Text) })
}

// asksGitHub reports whether gh api only reads: by GET, or a query of GraphQL that is there.
// What gh is told to send from a file leaves the machine.
func asksGitHub(c shell.Command) bool {
	if slices.Contains(c.Verbs(2), "rerun") { // a whole run may deploy what it did once
		return shell.Option(c, "--failed") == shell.Yes
	}
	if c.Verb() != "api" {
		return !clonesOtherwise(c)
	}
	if shell.Option(c, "--input") != shell.No {
		return false
	}
	fields, queried, get := false, false, false
	args := c.Args()
	value := func(i int, joined string) (string, bool) {
		if joined != "" || i+1 == len(args) {
			return joined, args[i].Known
		}
		return args[i+1].Text, args[i+1].Known
	}
	for i, w := range args {
		if w.Many && !w.Known || ghJoined.MatchString(w.Text) && !ghField.MatchString(w.Text) && !ghMethod.MatchString(w.Text) {
			return false
		}
		if m := ghMethod.FindStringSubmatch(w.Text); m != nil {
			if method, _ := value(i, m[2]); method != "GET" {
				return false
			}
			get = true
		}
		if m := ghField.FindStringSubmatch(w.Text); m != nil {
			field, known := value(i, m[2])
			key, text, _ := strings.Cut(field, "=")
			if strings.HasPrefix(text, "@") || key == "query" && (!known || mutation.MatchString(text)) || strings.ContainsAny(text, "`") && !known || strings.Contains(text, "$(") && !known {
				return false
			}
			fields, queried = true, queried || key == "query"
		}
	}
	words := operands(c)
	graphql := slices.ContainsFunc(words[:min(2, len(words))], func(w shell.Word) bool { return w.Known && w.Text == "graphql" })
	return !fields || get && !graphql || graphql && queried
}
