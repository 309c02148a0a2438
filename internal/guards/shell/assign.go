package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign parses an assignment. words are those of the command that it precedes, if any.
func (s source) assign(a *syntax.Assign, words []Word) Assign {
	is := Assign{Value: Word{Known: true}}
	if a.Name == nil {
		return is
	}
	is.Name = a.Name.Value
	switch {
	case a.Value != nil:
		is.Value = s.word(a.Value)
	case a.Array != nil:
		is.Value = Word{Text: s.sourceOf(a.Array)}
	}
	s.doubtEvaluated([]Word{is.Value})
	if a.Naked && a.Value == nil {
		return is // it keeps its value
	}
	// How a program uses HOME is not relevant to the line itself.
	again := slices.ContainsFunc(words, func(w Word) bool { return shells[nameOf(w.Text)] || w.Text == "eval" })
	if len(words) == 0 || again {
		s.doubtDirectories(is.Name)
	}
	s.doubtVariable(is)
	if a.Value != nil {
		s.keep(a, is.Value)
	}
	return is
}

// addAssignments lists assignments without a command: they change the environment of later programs
// if the variable is exported. A lowercase name is taken for a variable of the line only.
func (s source) addAssignments(all []Assign, ctx context) {
	all = slices.DeleteFunc(all, func(a Assign) bool { return a.Harmless() || a.Name == strings.ToLower(a.Name) })
	if len(all) > 0 {
		s.add(Command{Assigns: all, Redirects: ctx.redirects}, ctx)
	}
}

// assigns matches = and the operators that end with it, such as +=, but no comparison.
var assigns = regexp.MustCompile(`^([^=!<>]|<<|>>|\*\*)?=$`)

// assignedName returns the name of the variable that a node assigns to, other than in an assignment
// before a command.
func assignedName(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.WordIter: // for NAME in
		return n.Name.Value
	case *syntax.ParamExp: // ${NAME:=value}
		if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			return n.Param.Value
		}
	case *syntax.BinaryArithm: // ((NAME = 1))
		if to, ok := n.X.(*syntax.Word); ok && assigns.MatchString(n.Op.String()) {
			return to.Lit()
		}
	case *syntax.Redirect: // {NAME}> file
		if n.N != nil {
			return strings.Trim(n.N.Value, "{}")
		}
	}
	return ""
}

// setVariable records a variable that is set to an unknown value.
func (s source) setVariable(name string, ctx context) {
	name, _, _ = strings.Cut(name, "[")
	a := Assign{Name: name}
	s.doubtDirectories(name)
	s.doubtVariable(a)
	s.addAssignments([]Assign{a}, ctx)
}

// setters are commands that set variables. The names follow their options.
var setters = map[string]wrapper{
	"read": {flags: "aersE", values: "dinNptu"}, "mapfile": {flags: "t", values: "CcdnOsu"}, "readarray": {flags: "t", values: "CcdnOsu"}, "getopts": {operands: 1},
}

// setVariables records the variables that a shell builtin sets.
func (s source) setVariables(command string, args []Word, ctx context) {
	var names []Word
	switch of, ok := setters[command]; {
	case ok:
		if names, ok = of.wrapped(args); !ok {
			s.doubt("the name of a variable is known only when it runs")
		}
	case command == "printf" && len(args) > 0 && strings.HasPrefix(args[0].Text, "-v"):
		if names = args[:1:1]; args[0].Text == "-v" {
			names = args[1:min(2, len(args))]
		}
	}
	for _, n := range names {
		if !n.Known {
			s.doubt("the name of a variable is known only when it runs")
		}
		s.setVariable(strings.TrimPrefix(n.Text, "-v"), ctx)
	}
}

// declares are commands whose arguments are assignments.
var declares = []string{"export", "declare", "typeset", "local", "readonly"}

// declare handles export, declare and similar commands.
func (s source) declare(n *syntax.DeclClause, ctx context) {
	words := []Word{{Text: n.Variant.Value, Known: true}}
	for _, a := range n.Args {
		s.assign(a, nil)
		if a.Name == nil && a.Value != nil { // export "A=b"
			s.declared(n.Variant.Value, s.words([]*syntax.Word{a.Value}))
		}
		words = append(words, Word{Text: s.sourceOf(a), Known: true})
	}
	s.add(Command{Words: words, Redirects: ctx.redirects}, ctx)
}

// declared checks the arguments of such a command. With -n a variable becomes a reference to
// another one, which is not tracked.
func (s source) declared(command string, args []Word) {
	s.assignments(args)
	refers := func(w Word) bool { return strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "n") }
	if command != "export" && slices.ContainsFunc(args, refers) {
		s.doubt("a variable is made another name for one")
	}
}

// assignments checks words of the form NAME=value.
func (s source) assignments(words []Word) {
	for _, w := range words {
		if name, value, found := strings.Cut(w.Text, "="); found {
			w.Text = value
			s.doubtVariable(Assign{name, w})
		}
	}
}

// subscript matches a name with a command substitution in its subscript. Where bash evaluates a
// text as an expression or a name, it runs that command, even if it is quoted.
var subscript = regexp.MustCompile("\\w\\[[^\\]]*(\\$\\(([^(]|\\([^()]*\\)[^)])|`)")

// evaluators are commands that evaluate their arguments as expressions or names.
var evaluators = []string{"let", "test", "[", "read", "unset", "printf", "mapfile", "readarray", "wait", "declare", "typeset", "local", "export", "readonly"}

// doubtEvaluated looks for commands in texts that bash may evaluate.
func (s source) doubtEvaluated(words []Word) {
	if slices.ContainsFunc(words, func(w Word) bool { return subscript.MatchString(w.Text) }) {
		s.doubt("bash runs what stands in the brackets behind a name")
	}
}
