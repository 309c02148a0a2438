package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// moduleDirectories are variables with directories in which programs look for code first. A line
// may change their effect even without export, because the agent's environment often contains them.
var moduleDirectories = strings.Fields("PYTHONPATH NODE_PATH RUBYLIB PERL5LIB PERLLIB CLASSPATH LUA_PATH LUA_CPATH GEM_PATH GEM_HOME BUNDLE_GEMFILE JULIA_LOAD_PATH GOPATH GOMODCACHE GUILE_LOAD_PATH OCAMLPATH ERL_LIBS PHPRC PHP_INI_SCAN_DIR")

// Commands whose arguments set variables, for the command that they run or for the rest of the
// line.
var (
	setting   = strings.Fields("env export declare typeset readonly local cross-env")
	exporting = strings.Fields("env export cross-env")
)

// loadsForeign reports whether a variable makes a program use code, settings or a server outside
// the project: nothing has checked the contents of /tmp.
func loadsForeign(c shell.Command) bool {
	exported := len(c.Words) > 0 && !slices.Contains(setting, c.Name()) || slices.Contains(exporting, c.Name())
	if !exported && slices.Contains(setting, c.Name()) { // declare -x
		exported = c.AnyArg(exports.MatchString)
	}
	foreign := func(a shell.Assign) bool {
		return slices.Contains(moduleDirectories, a.Name) && leadsOut(c, a.Name, a.Value.Text) || exported && !plainVariable(c, a)
	}
	return slices.ContainsFunc(c.Assigns, foreign) || slices.ContainsFunc(set(c), foreign)
}

// exports matches options of declare that export a variable.
var exports = regexp.MustCompile(`^-[a-zA-Z]*x`)

// set returns the variables that the arguments of a command set. Those of env precede the command
// that it runs.
func set(c shell.Command) (all []shell.Assign) {
	if !slices.Contains(setting, c.Name()) {
		return nil
	}
	for _, w := range c.Args() {
		name, value, found := strings.Cut(w.Text, "=")
		if name = strings.Trim(name, `"'`); found && variableName.MatchString(name) {
			w.Text = strings.Trim(value, `"'`)
			all = append(all, shell.Assign{Name: name, Value: w})
		} else if (c.Name() == "env" || c.Name() == "cross-env") && len(all) > 0 {
			return all
		}
	}
	return all
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	// project matches the beginning of a path in the project that a shell expands.
	project = regexp.MustCompile(`^(\$\{?PWD\}?|\$\(pwd\))(/|$)`)
	// kept matches directories in which an agent may not write without approval.
	kept = regexp.MustCompile(`^((/usr|/opt)/|(~|\$HOME|\$\{HOME\})/go(/pkg/mod)?$)`)
)

// leadsOut reports whether a value contains a directory that is unknown or outside the project. The
// variable's own value, as in src:$PYTHONPATH, is skipped.
func leadsOut(c shell.Command, name, value string) bool {
	for dir := range strings.FieldsFuncSeq(withoutItself(name, value), func(r rune) bool { return r == ':' || r == ';' }) {
		rest := project.ReplaceAllString(dir, "./")
		inside := !strings.ContainsAny(rest, "$`") && (ownFile(rest, c.Dirs) || slices.Contains(c.Dirs, dir))
		if !inside && dir != "$"+name && (!kept.MatchString(dir) || strings.Contains(dir, "..")) {
			return true
		}
	}
	return false
}

// withoutItself returns a value without references to the variable's old value.
func withoutItself(name, value string) string {
	for _, again := range []string{"${" + name + ":+:$" + name + "}", "${" + name + ":+:${" + name + "}}", "${" + name + ":-}", "${" + name + "}"} {
		value = strings.ReplaceAll(value, again, "")
	}
	return value
}

// exported returns the commands of a line. Assignments without a command become an export if the
// line exports the variable elsewhere: X=/tmp/x; export X.
func exported(all []shell.Command) []shell.Command {
	names, every := map[string]bool{}, false
	for _, c := range all {
		args := c.Args()
		export := c.Name() == "export" || slices.Contains([]string{"declare", "typeset"}, c.Name()) && c.AnyArg(exports.MatchString)
		for _, w := range args {
			names[w.Text] = names[w.Text] || export
			every = every || c.Name() == "set" && (w.Text == "allexport" || exportsAll.MatchString(w.Text))
		}
	}
	all = slices.Clone(all)
	for i, c := range all {
		if len(c.Words) == 0 && len(c.Assigns) > 0 && slices.ContainsFunc(c.Assigns, func(a shell.Assign) bool { return every || names[a.Name] }) {
			all[i].Words = literal("export", c.Assigns[0].Name)
		}
	}
	return all
}

// exportsAll matches options of set that export all variables.
var exportsAll = regexp.MustCompile(`^-[a-zA-Z]*a`)
