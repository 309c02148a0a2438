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

// named matches a variable whose name suggests a secret, and linked one with an address that often
// contains a password.
var (
	named  = regexp.MustCompile(`(?i)\$\{?[!#]?` + secretName)
	linked = regexp.MustCompile(`(?i)\$\{?[!#]?` + linkName)
)

// Patterns of such names.
const (
	secretName = `\w*(secret|token|passw|api_?key|private|credential|access_?key)\w*`
	linkName   = `\w*((database|db|postgres\w*|pg|mysql|mongo\w*|redis|amqp|rabbitmq|broker)_(ur[il]|dsn)|connection_?string)\w*`
)

// indirect matches an indirect expansion.
var indirect = regexp.MustCompile(`\$\{!\w+\}`)

// secretFile matches the name of a file with secrets in a text that is not a path, such as code or
// an unknown value.
var secretFile = regexp.MustCompile(`(^|[^\w.-])(\.env(\.(local|production|prod|staging|development|test))?|id_(rsa|dsa|ecdsa|ed25519)|` +
	`\.(netrc|pgpass|npmrc|pypirc|git-credentials|vault-token)|\.(aws|ssh|kube|gnupg|azure)/[^'"\s]+|(credentials|secrets|service-account)\.(json|ya?ml|toml)|/proc/[^'"\s]+/environ)($|[^\w.-])`)

// mentions reports whether a command may open such a file without a path as its argument: its code
// contains the name, or the line does and an argument of the command is unknown. Unknown arguments
// of git are usually messages and are ignored.
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

// environment matches arguments that make a program print environment variables: the letter e among
// the options of ps without a dash, and env in jq.
var environment = map[string]*regexp.Regexp{
	"ps": regexp.MustCompile(`^[aefglrtuvwx]*e[aefglrtuvwx]*$|^-\w*E`),
	"jq": regexp.MustCompile(`\$ENV\b|(^|[\s(|])env(\.[A-Z_]|\s*($|[|\[)]))`),
}

// expands reports whether a command is given a variable that contains a secret or whose name is
// unknown. A test is not included: it only checks whether the variable is set. An address with a
// password counts only for programs that do not send: psql connects to it, but echo prints it.
func expands(c shell.Command) bool {
	holds := func(w shell.Word) bool {
		return !w.Known && (named.MatchString(w.Text) || indirect.MatchString(w.Text) || linked.MatchString(w.Text) && stays(c))
	}
	return !slices.Contains([]string{"test", "[", "[["}, c.Name()) &&
		(slices.ContainsFunc(c.Args(), holds) || slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return holds(r.Here) }))
}
