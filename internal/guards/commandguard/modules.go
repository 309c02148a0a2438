package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// moduleDirectories are variables by which programs find code before what is installed.
var moduleDirectories = strings.Fields("PYTHONPATH NODE_PATH RUBYLIB PERL5LIB PERLLIB CLASSPATH LUA_PATH LUA_CPATH GEM_PATH GEM_HOME BUNDLE_GEMFILE JULIA_LOAD_PATH GOPATH GOMODCACHE GUILE_LOAD_PATH OCAMLPATH ERL_LIBS PHPRC PHP_INI_SCAN_DIR")

// setting are commands whose arguments set variables.
var setting = strings.Fields("env export declare typeset readonly local cross-env")

// loadsForeign reports whether a variable leads a program to code that is not the project's: what
// stands in /tmp was judged by nobody.
func loadsForeign(c shell.Command) bool {
	foreign := func(name, value string) bool {
		return slices.Contains(moduleDirectories, name) && leadsOut(c, name, value)
	}
	return slices.ContainsFunc(c.Assigns, func(a shell.Assign) bool { return foreign(a.Name, a.Value.Text) }) ||
		slices.Contains(setting, c.Name()) && slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			name, value, _ := strings.Cut(w.Text, "=")
			return foreign(strings.Trim(name, `"'`), strings.Trim(value, `"'`))
		})
}

var (
	// project is the beginning of a directory of the project that a shell fills in.
	project = regexp.MustCompile(`^(\$\{?PWD\}?|\$\(pwd\))(/|$)`)
	// kept are directories into which an agent may not write unasked.
	kept = regexp.MustCompile(`^((/usr|/opt)/|(~|\$HOME|\$\{HOME\})/go(/pkg/mod)?$)`)
)

// leadsOut reports whether a value has a directory outside of the project, or one that is not known;
// the variable's own value, as in src:$PYTHONPATH, was judged before.
func leadsOut(c shell.Command, name, value string) bool {
	for _, again := range []string{"${" + name + ":+:$" + name + "}", "${" + name + ":+:${" + name + "}}", "${" + name + ":-}", "${" + name + "}"} {
		value = strings.ReplaceAll(value, again, "")
	}
	for dir := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ':' || r == ';' }) {
		rest := project.ReplaceAllString(dir, "./")
		inside := !strings.ContainsAny(rest, "$`") && (ownFile(rest, c.Dirs) || slices.Contains(c.Dirs, dir))
		if !inside && dir != "$"+name && (!kept.MatchString(dir) || strings.Contains(dir, "..")) {
			return true
		}
	}
	return false
}
