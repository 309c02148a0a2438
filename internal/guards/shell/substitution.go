package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitution returns the command substitution that a whole value consists of, or nil.
func substitution(from *syntax.Word) *syntax.CmdSubst {
	parts := from.Parts
	if len(parts) == 1 {
		if quoted, is := parts[0].(*syntax.DblQuoted); is {
			parts = quoted.Parts
		}
	}
	if len(parts) != 1 {
		return nil
	}
	of, _ := parts[0].(*syntax.CmdSubst)
	return of
}

// listing returns the files that a word consisting of only $(find …) expands to, if they are known.
func (s source) listing(from *syntax.Word) []Word {
	if len(from.Parts) != 1 || s.plain {
		return nil
	}
	p, ok := from.Parts[0].(*syntax.CmdSubst)
	if !ok || len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) > 0 {
		return nil
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return nil
	}
	names := listed(Command{Words: s.words(call.Args)})
	for i := range names {
		names[i].Runs = []string{nameOf(call.Args[0].Lit())}
	}
	return names
}

// substituted returns the value of a command substitution, if it is known.
func (s source) substituted(p *syntax.CmdSubst, first, quoted bool) (text string, ok bool) {
	if s.functions > 0 || len(p.Stmts) != 1 {
		return "", false
	}
	command := s.sourceOf(p.Stmts[0])
	switch {
	case first && command == "pwd":
		return ".", true
	case first && slices.Contains(currentBranch, command):
		return "HEAD", true
	case len(s.aliases) > 0:
		return "", false
	}
	if text, ok = printed(command); ok || !quoted {
		return text, ok
	}
	return s.written(p.Stmts[0])
}

// written returns the text of "$(cat <<'EOF' …)", which agents use for multi-line messages.
func (s source) written(stmt *syntax.Stmt) (text string, ok bool) {
	if len(stmt.Redirs) != 1 || stmt.Redirs[0].Op != syntax.Hdoc || stmt.Redirs[0].Hdoc == nil {
		return "", false
	}
	call, is := stmt.Cmd.(*syntax.CallExpr)
	if !is || len(call.Assigns) > 0 || len(call.Args) != 1 || call.Args[0].Lit() != "cat" {
		return "", false
	}
	from := stmt.Redirs[0]
	text, ok = s.document(from.Hdoc, strings.ContainsAny(s.sourceOf(from.Word), `'"\`))
	return strings.TrimRight(text, "\n"), ok
}

// printing are commands that print one word of digits and letters, each with a word that represents
// it.
var printing = []struct {
	command *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`^git (rev-parse( --short(=\d+)?)?|merge-base [\w][\w/.~^-]*) [\w][\w/.~^-]*$`), "0a1b2c3"},
	{regexp.MustCompile(`^git (rev-list --count [\w][\w/.~^-]*|log -1 --format=%(h|H|ct))$`), "7"},
	{regexp.MustCompile(`^(nproc|id -[ug]|date \+(%[a-zA-Z]|[\w.-])+|getconf _NPROCESSORS_ONLN|sysctl -n hw\.ncpu)$`), "4"},
	{regexp.MustCompile(`^uname -[mrs]$`), "linux"},
}

func printed(command string) (word string, ok bool) {
	for _, p := range printing {
		if p.command.MatchString(command) {
			return p.word, true
		}
	}
	return "", false
}

// currentBranch are commands that print the name of the current branch, which is one word to the
// shell.
var currentBranch = []string{"git branch --show-current", "git rev-parse --abbrev-ref HEAD"}

var (
	temporaryName = regexp.MustCompile(`^(/tmp/)?[\w.-]+$`)
	temporaryFlag = regexp.MustCompile(`^(-[dqt]+|--directory|--quiet|--suffix=[\w.-]+)$`)
)

// plainTMPDIR matches uses of TMPDIR that leave new files below /tmp: its value, and its assignment
// to a directory that mktemp creates.
var plainTMPDIR = regexp.MustCompile(`\$TMPDIR\b|\$\{TMPDIR\}|\bTMPDIR=(\$\(mktemp -d\)|"\$\(mktemp -d\)")(\s|[;&]|$)`)

// keepsTemporary reports whether the text leaves new files below /tmp. The result is cached by
// text.
func (s source) keepsTemporary() bool {
	keeps, asked := s.parser.temporaries[s.text]
	if !asked {
		keeps = !strings.Contains(s.text, "TMPDIR") || !strings.Contains(plainTMPDIR.ReplaceAllString(s.text, " "), "TMPDIR")
		s.parser.temporaries[s.text] = keeps
	}
	return keeps
}

// temporary returns the value of $(mktemp): a new name below /tmp.
func (s source) temporary(from *syntax.Word) (Word, bool) {
	made := substitution(from)
	if made == nil || !s.keepsTemporary() || len(s.aliases) > 0 || len(made.Stmts) != 1 || len(made.Stmts[0].Redirs) > 0 || made.Stmts[0].Background {
		return Word{}, false
	}
	call, is := made.Stmts[0].Cmd.(*syntax.CallExpr)
	if !is || len(call.Assigns) > 0 {
		return Word{}, false
	}
	words := s.words(call.Args)
	if words[0].Text != "mktemp" {
		return Word{}, false
	}
	name, below := "tmp", false
	for _, w := range words[1:] {
		switch {
		case !w.plain():
			return Word{}, false
		case temporaryFlag.MatchString(w.Text):
			below = below || strings.Contains(w.Text, "t") && !strings.HasPrefix(w.Text, "--")
		case temporaryName.MatchString(w.Text) && !strings.Contains(w.Text, ".."):
			name = w.Text
			below = below || strings.HasPrefix(name, "/")
		default:
			return Word{}, false
		}
	}
	if name != "tmp" && !below {
		return Word{}, false // it is in the working directory
	}
	return Word{Text: "/tmp/" + strings.TrimPrefix(name, "/tmp/"), Known: true}, true
}
