package pathguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// findActions are the prefixes of find's options that do more than print file names.
	findActions = strings.Fields("-exec -ok -delete -fprint -fls -files0-from -newer -samefile")
	// nameFilters are programs that only print or filter names. Others may read the files.
	nameFilters = strings.Fields("find head tail sort uniq grep egrep fgrep wc tr cut echo printf cd pwd ls true which command test [")
	// secretName matches a pattern with which find may search for a secret.
	secretName = regexp.MustCompile(`(?i)secret|id_(rsa|dsa|ecdsa|ed25519)|token|cred|passw|priv|wallet|auth|key|kube|ssh|aws|env|history|cookie|\.(pem|p12|pfx|jks|ppk|asc|gpg|tfstate|creds|nk|netrc|ovpn)|^\.?\*?$`)
)

// listsNames reports whether a find only lists files whose names do not suggest a secret. It may
// then search anywhere, if nothing else in the line reads the files.
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

// readsNoneListed reports whether no command of a line reads files that another one lists.
func readsNoneListed(line []shell.Command) bool {
	return !slices.ContainsFunc(line, func(c shell.Command) bool {
		return !slices.Contains(nameFilters, c.Name()) || slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known || strings.HasPrefix(w.Text, "--files0") })
	})
}
