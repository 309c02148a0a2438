package pathguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// findActions are the beginnings of what find does with files but print their names.
	findActions = strings.Fields("-exec -ok -delete -fprint -fls -files0-from -newer -samefile")
	// nameFilters are programs that do no more with names than print some of them. Others may read
	// the files.
	nameFilters = strings.Fields("find head tail sort uniq grep egrep fgrep wc tr cut echo printf cd pwd ls true which command test [")
	// secretName is a name by which a find may look for a secret.
	secretName = regexp.MustCompile(`(?i)secret|id_(rsa|dsa|ecdsa|ed25519)|token|cred|passw|priv|wallet|auth|key|kube|ssh|aws|env|history|cookie|\.(pem|p12|pfx|jks|ppk|asc|gpg|tfstate|creds|nk|netrc|ovpn)|^\.?\*?$`)
)

// listsNames reports whether a find looks for files by a name that is none of a secret, and does no
// more: it may look anywhere then, if nothing in its line reads what it finds.
func listsNames(find shell.Command) bool {
	if find.Name() != "find" {
		return false
	}
	named, args := false, find.Args()
	for i, w := range args {
		switch {
		case !w.Known, slices.ContainsFunc(findActions, func(act string) bool { return strings.HasPrefix(w.Text, act) }):
			return false
		case (w.Text == "-name" || w.Text == "-iname") && i+1 < len(args):
			name := args[i+1].Text
			if secretName.MatchString(name) || len(strings.Trim(name, "*?[].")) < 2 {
				return false
			}
			named = true
		}
	}
	return named
}

// readsNoneListed reports whether no command of a line reads files that another one names.
func readsNoneListed(line []shell.Command) bool {
	return !slices.ContainsFunc(line, func(c shell.Command) bool {
		return !slices.Contains(nameFilters, c.Name()) || slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known || strings.HasPrefix(w.Text, "--files0") })
	})
}
