package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign looks at one assignment. It precedes the words of a command, if there are any.
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
		return is // it has the value that it had
	}
	// What a program makes of HOME is not the line's matter.
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

// addAssignments lists assignments that no command follows: a program that runs later sees
// them where its environment had the name. One in small letters is the line's own.
func (s source) addAssignments(all []Assign, ctx context) {
	all = slices.DeleteFunc(all, func(a Assign) bool { return a.Harmless() || a.Name == strings.ToLower(a.Name) })
	if len(all) > 0 {
		s.add(Command{Assigns: all, Redirects: ctx.redirects}, ctx)
	}
}

// assigns is of what is = or, as +=, ends with it and compares nothing.
var assigns = regexp.MustCompile(`^([^=!<>]|<<|>>|\*\*)?=$`)

// assignedName is the name of the variable that a part of the source gives a value, where it
// is none of the assignments before a command.
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

// setVariable notes a variable that gets a value which is not known.
func (s source) setVariable(name string, ctx context) {
	name, _, _ = strings.Cut(name, "[")
	a := Assign{Name: name}
	s.doubtDirectories(name)
	s.doubtVariable(a)
	s.addAssignments([]Assign{a}, ctx)
}

// setters are commands that give variables a value: the names follow their options.
var setters = map[string]wrapper{
	"read": {flags: "aersE", values: "dinNptu"}, "mapfile": {flags: "t", values: "CcdnOsu"}, "readarray": {flags: "t", values: "CcdnOsu"}, "getopts": {operands: 1},
}

// setVariables notes the variables that a command of the shell gives values.
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

// declare is export, declare and the like.
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

// declared looks at the arguments of such a command. Behind -n a variable is another
// name for one, which is not followed.
func (s source) declared(command string, args []Word) {
	s.assignments(args)
	refers := func(w Word) bool { return strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "n") }
	if command != "export" && slices.ContainsFunc(args, refers) {
		s.doubt("a variable is made another name for one")
	}
}

// assignments looks at words of the form NAME=value.
func (s source) assignments(words []Word) {
	for _, w := range words {
		if name, value, found := strings.Cut(w.Text, "="); found {
			w.Text = value
			s.doubtVariable(Assign{name, w})
		}
	}
}

// subscript is a name with brackets that hold a command: where bash takes a text for an
// expression or a name, it runs what is in them, quoted or not.
var subscript = regexp.MustCompile("\\w\\[[^\\]]*(\\$\\(([^(]|\\([^()]*\\)[^)])|`)")

// evaluators are commands that take their arguments for expressions or names.
var evaluators = []string{"let", "test", "[", "read", "unset", "printf", "mapfile", "readarray", "wait", "declare", "typeset", "local", "export", "readonly"}

// doubtEvaluated looks for commands in texts that bash may evaluate.
func (s source) doubtEvaluated(words []Word) {
	if slices.ContainsFunc(words, func(w Word) bool { return subscript.MatchString(w.Text) }) {
		s.doubt("bash runs what stands in the brackets behind a name")
	}
}
