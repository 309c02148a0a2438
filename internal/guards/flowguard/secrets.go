package flowguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// printing are commands that print secrets.
var printing = decision.MustPatterns(shell.ParsePattern,
	"printenv", "gh auth token", "gh auth * --show-token", "git credential", "npm token", "security find-*-password", "security dump-keychain", "security export",
	"secret-tool", "gpg --export-secret-keys", "vault read", "vault kv", "op read", "op item", "pass show", "bw get", "aws secretsmanager", "aws ssm get-parameter*",
	"aws configure export-credentials", "aws sts", "gcloud auth print-*-token", "gcloud secrets", "az account get-access-token", "az keyvault secret",
	"terraform state pull", "terraform output", "kubectl get secret*", "kubectl config view")

// named is a variable whose name says that it holds a secret, and linked one with an address that
// mostly has a password.
var (
	named  = regexp.MustCompile(`(?i)\$\{?[!#]?` + secretName)
	linked = regexp.MustCompile(`(?i)\$\{?[!#]?` + linkName)
)

// Parts of such names.
const (
	secretName = `\w*(secret|token|passw|api_?key|private|credential|access_?key)\w*`
	linkName   = `\w*((database|db|postgres\w*|pg|mysql|mongo\w*|redis|amqp|rabbitmq|broker)_(ur[il]|dsn)|connection_?string)\w*`
)

// indirect is a variable that another one names.
var indirect = regexp.MustCompile(`\$\{!\w+\}`)

// secretFile is the name of a file with secrets in what is no path: code, or a value that is not
// known.
var secretFile = regexp.MustCompile(`(^|[^\w.-])(\.env(\.(local|production|prod|staging|development|test))?|id_(rsa|dsa|ecdsa|ed25519)|` +
	`\.(netrc|pgpass|npmrc|pypirc|git-credentials|vault-token)|\.(aws|ssh|kube|gnupg|azure)/[^'"\s]+|(credentials|secrets|service-account)\.(json|ya?ml|toml)|/proc/[^'"\s]+/environ)($|[^\w.-])`)

// mentions reports whether a command may open such a file without naming it as a path: the
// name is in its code, or somewhere in the line, and a value of the command is not known.
// What git is told that is not known is a message.
func mentions(c shell.Command, line string) bool {
	switch {
	case len(c.Words) == 0 || c.Name() == "git" || !secretFile.MatchString(line):
		return false
	case slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return !w.Known }) || c.Name() == "xargs":
		return true
	case stays(c):
		return false
	}
	return c.AnyArg(secretFile.MatchString) ||
		slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return secretFile.MatchString(r.Here.Text) })
}

// prints reports whether a command prints a secret.
func prints(c shell.Command) bool {
	args := make([]string, len(c.Args()))
	for i, w := range c.Args() {
		args[i] = w.Text
	}
	switch c.Name() {
	case "env":
		if !shell.RunsCommand(c) {
			return true
		}
	case "set":
		if len(args) == 0 {
			return true
		}
	case "export", "readonly", "declare", "typeset":
		if len(args) == 0 || len(args) == 1 && strings.HasPrefix(args[0], "-") {
			return true
		}
	case "ps", "jq":
		for i, arg := range args {
			if environment[c.Name()].MatchString(arg) && (i == 0 || !strings.HasPrefix(args[i-1], "--arg")) {
				return true
			}
		}
	}
	return slices.ContainsFunc(printing, func(p shell.Pattern) bool { return p.In(c) == shell.Yes })
}

// environment is what has a program print its variables, or those of others: of ps the letter e among
// options without a dash, in jq's language env.
var environment = map[string]*regexp.Regexp{
	"ps": regexp.MustCompile(`^[aefglrtuvwx]*e[aefglrtuvwx]*$|^-\w*E`),
	"jq": regexp.MustCompile(`\$ENV\b|(^|[\s(|])env(\.[A-Z_]|\s*($|[|\[)]))`),
}

// expands reports whether a command that stays here is given a variable that holds a secret, or one
// whose name is not known; a test only looks whether it is there. An address counts where the program
// stays here: psql connects to it, and echo prints it.
func expands(c shell.Command) bool {
	holds := func(w shell.Word) bool {
		return !w.Known && (named.MatchString(w.Text) || indirect.MatchString(w.Text) || linked.MatchString(w.Text) && stays(c))
	}
	return !slices.Contains([]string{"test", "[", "[["}, c.Name()) &&
		(slices.ContainsFunc(c.Args(), holds) || slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return holds(r.Here) }))
}
