package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// makePrograms run commands from variables, which a line may set.
var makePrograms = strings.Fields("make gmake just task")

// toolVariable matches the variables of make that name a program.
var toolVariable = regexp.MustCompile(`^(CC|CXX|CPP|LD|AR|AS|FC|MAKE)$`)

// Limits on reading variables, per line.
const (
	maxVariableDepth = 3         // commands in variables in commands
	maxVariableBytes = 128 << 10 // bytes
)

// variableCommands evaluates the values that a line assigns to variables of make as commands, as in
// make CC='ccache gcc'. Other values are texts or options, so an unknown name counts as a program
// only in a variable for programs.
type variableCommands struct {
	policy
	left int // unused part of maxVariableBytes
}

func (h *variableCommands) judge(c shell.Command, depth int) decision.Finding {
	worst := decision.Finding{Decision: decision.Allow}
	if !slices.Contains(makePrograms, c.Name()) {
		return worst
	}
	dir := ""
	if len(c.Dirs) > 0 {
		dir = c.Dirs[0]
	}
	for _, a := range commandVariables(c) {
		if h.left -= len(a.Value.Text); h.left < 0 || depth == maxVariableDepth {
			return worst.Graver(h.undecided("variables of make hold more commands than are read"))
		}
		for _, inner := range shell.Parse(a.Value.Text, dir).Commands {
			_, program := programs()[inner.Name()]
			if f := h.command(inner); program || toolVariable.MatchString(a.Name) || f.Decision == decision.Deny && f.Rule != decision.Option("otherwise") {
				worst = worst.Graver(f)
			}
			worst = worst.Graver(h.judge(inner, depth+1))
		}
	}
	return worst
}

// commandVariables returns the variables that a command sets and whose value may be a command with
// arguments.
func commandVariables(c shell.Command) []shell.Assign {
	set := slices.Clone(c.Assigns)
	for _, w := range c.Args() {
		name, value, _ := strings.Cut(w.Text, "=")
		w.Text = value
		set = append(set, shell.Assign{Name: strings.TrimRight(name, ":?+!"), Value: w})
	}
	return slices.DeleteFunc(set, func(a shell.Assign) bool {
		return !a.Value.Known || !variableName.MatchString(a.Name) || !strings.ContainsAny(a.Value.Text, " \t\n;|&")
	})
}
