package shell

import (
	"regexp"

	"mvdan.cc/sh/v3/syntax"
)

// shellSetup are programs that print shell code to set up the user's tools. Their manuals tell
// users to evaluate it.
var shellSetup = regexp.MustCompile(`^(brew shellenv|(py|rb|nod|j|go|pl)env (virtualenv-)?init( -)?( --path)?( - )?( ?(ba|z)?sh)?|fnm env( --use-on-cd)?( --shell[ =]\w+)?|mise activate( --shims)? (ba|z)sh` +
	`|conda shell\.(bash|zsh|posix) hook|micromamba shell hook (-s|--shell)[ =](ba|z|posix)sh|direnv hook (ba|z)sh|opam env|ssh-agent( -s)?|(starship init|zoxide init) (ba|z)sh|npm completion|(kubectl|helm|gh|docker) completion( -s)? (ba|z)sh)$`)

// evaluatesSetup reports whether a command evaluates only the output of such a program, and no
// function or alias replaces the program.
func (s source) evaluatesSetup(call *syntax.CallExpr) bool {
	if len(call.Args) != 2 || len(call.Assigns) > 0 || s.functions > 0 || s.declares || len(s.aliases) > 0 || call.Args[0].Lit() != "eval" {
		return false
	}
	inner := substitution(call.Args[1])
	return inner != nil && len(inner.Stmts) == 1 && len(inner.Stmts[0].Redirs) == 0 && shellSetup.MatchString(s.sourceOf(inner.Stmts[0]))
}
