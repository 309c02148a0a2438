// Package completion prints shell completion scripts for the programs. A script contains the
// commands, flags and enumerated values of the program that printed it. It does not run the program
// while completing.
package completion

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Command is the command that prints a script; add it to a program's commands.
type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script for the program that ctx was parsed for.
func (c Command) Run(ctx *kong.Context) error { return Write(ctx.Stdout, ctx.Model, c.Shell) }

// Write writes the script of a program for a shell: bash, zsh or fish.
func Write(w io.Writer, app *kong.Application, shell string) error {
	t := tableOf(app.Node, app.Name)
	var script string
	switch shell {
	case "bash":
		script = t.bash(app.Name)
	case "zsh": // zsh runs completion functions of bash
		script = "#compdef " + app.Name + "\nautoload -U +X bashcompinit && bashcompinit\n" + t.bash(app.Name)
	case "fish":
		script = t.fish(app.Name)
	default:
		return fmt.Errorf("print completions for %q: choose bash, zsh or fish", shell)
	}
	_, err := io.WriteString(w, script)
	return err
}

// level is the words that may follow a command.
type level struct {
	path  string   // the command, as words; empty for the program itself
	words []string // commands and flags
}

// values are the enumerated values of a flag of a command.
type values struct{ path, flag, words string }

type table struct {
	levels []level
	values []values
}

// tableOf walks the visible commands below a node.
func tableOf(node *kong.Node, program string) table {
	var t table
	t.add(node, program)
	return t
}

func (t *table) add(node *kong.Node, program string) {
	path := strings.TrimSpace(strings.TrimPrefix(node.Path(), program))
	l := level{path: path}
	for _, child := range node.Children {
		if !child.Hidden && child.Type == kong.CommandNode {
			l.words = append(l.words, child.Name)
		}
	}
	groups := node.AllFlags(true)
	if node.DefaultCmd != nil { // its flags may be given without its name
		groups = append(groups, node.DefaultCmd.AllFlags(true)...)
	}
	for _, flag := range slices.Concat(groups...) {
		name := "--" + flag.Name
		if slices.Contains(l.words, name) {
			continue
		}
		l.words = append(l.words, name)
		if flag.Enum != "" {
			t.values = append(t.values, values{path, name, strings.Join(flag.EnumSlice(), " ")})
		}
	}
	for _, arg := range node.Positional {
		l.words = append(l.words, arg.EnumSlice()...)
	}
	t.levels = append(t.levels, l)
	for _, child := range node.Children {
		if !child.Hidden && child.Type == kong.CommandNode {
			t.add(child, program)
		}
	}
}

// each calls do for each command with the path of its parent and its name.
func (t table) each(do func(parent, name string)) {
	for _, l := range t.levels {
		if l.path == "" {
			continue
		}
		parent, name := "", l.path
		if i := strings.LastIndexByte(l.path, ' '); i >= 0 {
			parent, name = l.path[:i], l.path[i+1:]
		}
		do(parent, name)
	}
}
