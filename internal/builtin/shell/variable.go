package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// commandVariables name a command that some other program runs, a file that it takes
// code from, or what else makes a name mean another command. The expression, where
// there is one, is of values that don't; a value of harmlessValues never does.
var commandVariables = func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{
		"NODE_OPTIONS":      regexp.MustCompile(`^(--(max|trace|no-|enable-source-maps|openssl-legacy|unhandled|stack|experimental-vm|dns)[-a-z]*(=[\w-]+)? ?)*$`),
		"GOFLAGS":           regexp.MustCompile(`^(-(mod|tags|count|p|v|race|trimpath|buildvcs|timeout|modcacherw)(=[\w,.-]+)? ?)*$`),
		"MAKEFLAGS":         regexp.MustCompile(`^([\s-]*([jklns]+ ?\d*|no-print-directory|silent))*$`),
		"JAVA_TOOL_OPTIONS": regexp.MustCompile(`^(-(Xm[sxn]\w+|D(file\.encoding|user\.timezone|java\.awt\.headless)=[\w/.-]+) ?)*$`),
		"RUBYOPT":           regexp.MustCompile(`^-W[\w:-]*$`),
		"RUSTC_WRAPPER":     regexp.MustCompile(`^sccache$`),
		"LESS":              regexp.MustCompile(`^[^+]*$`),
		"LD_LIBRARY_PATH":   regexp.MustCompile(`^(/(usr|opt|lib|lib64)(/[\w+-][\w.+-]*)*:?)+$`),
		"BROWSER":           regexp.MustCompile(`^(none|firefox|chrome)$`),
		"CDPATH":            nil, "IFS": regexp.MustCompile(`^\W*$`),
	}
	for name := range strings.FieldsSeq("BASH_ENV ENV PROMPT_COMMAND LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH SHELLOPTS BASHOPTS" +
		" GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG_GLOBAL" +
		" GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT PAGER MANPAGER SYSTEMD_PAGER GH_PAGER AWS_PAGER BAT_PAGER PSQL_PAGER EDITOR VISUAL SUDO_EDITOR SUDO_ASKPASS FCEDIT SSH_ASKPASS" +
		" LESSOPEN LESSCLOSE PERL5OPT PERL5DB PYTHONSTARTUP PYTHONBREAKPOINT TAR_OPTIONS RSYNC_RSH SVN_SSH CVS_RSH VIMINIT EXINIT ZDOTDIR npm_config_script_shell") {
		all[name] = nil
	}
	return all
}()

var harmlessValues = []string{"", "cat", "less", "more", "true", "false", ":", "vi", "vim", "nano", "never", "/dev/null"}

// A directory of commands that an agent's project has no part in.
var toolDirectory = regexp.MustCompile(`^(/(usr|bin|sbin|opt|snap|nix|Library|Applications)(/[\w.+-]+)*|(~|\$HOME|\$\{HOME\})/(bin|\.local/bin|go/bin|\.cargo/bin|\.bun/bin|\.deno/bin))/?$`)

// assign looks at one assignment. It stands before the words of a command, or alone
// where there are none.
func (s source) assign(a *syntax.Assign, words []Word) {
	if a.Name == nil {
		return
	}
	value := Word{Known: true}
	if a.Value != nil {
		value = s.words([]*syntax.Word{a.Value})[0]
	}
	s.evaluated([]Word{value})
	switch name := a.Name.Value; {
	case name == "HOME" || name == "PWD" || name == "OLDPWD":
		// What a program makes of it is not the line's matter.
		again := slices.ContainsFunc(words, func(w Word) bool { return shells[nameOf(w.Text)] || w.Text == "eval" })
		if !a.Naked && (len(words) == 0 || again) {
			s.doubt(Doubt("the variable " + name + " changes where ~ and other names lead"))
		}
	case a.Naked && a.Value == nil && name == "PATH":
	case a.Naked && a.Value == nil:
		s.variable(name, Word{})
	default:
		s.variable(name, value)
	}
}

// declares are commands whose arguments are assignments.
var declares = []string{"export", "declare", "typeset", "local", "readonly"}

// assignments looks at words of the form NAME=value.
func (s source) assignments(words []Word) {
	for _, w := range words {
		if name, value, found := strings.Cut(w.Text, "="); found {
			w.Text = value
			s.variable(name, w)
		}
	}
}

// variable looks for a value that makes other programs run something.
func (s source) variable(name string, value Word) {
	harmless, known := commandVariables[name]
	switch {
	case name == "PATH":
		if !harmlessPath(value.Text) {
			s.doubt("the variable PATH changes which commands the names mean")
		}
		return
	case strings.HasPrefix(name, "BASH_FUNC_") || strings.HasPrefix(name, "GIT_CONFIG_KEY_"):
	case strings.HasPrefix(name, "PS") && len(name) == 3 && strings.ContainsAny(value.Text, "$`"):
	case !known, value.Known && (slices.Contains(harmlessValues, value.Text) || harmless != nil && harmless.MatchString(value.Text)):
		return
	}
	s.doubt(Doubt("the variable " + clip(name) + " makes other programs run something"))
}

// harmlessPath reports whether what goes before the old value are directories of tools
// that are installed.
func harmlessPath(value string) bool {
	for dir := range strings.SplitSeq(value, ":") {
		if dir == "$PATH" || dir == "${PATH}" {
			return true
		}
		if !toolDirectory.MatchString(dir) || strings.Contains(dir, "/..") {
			return false
		}
	}
	return true
}

// subscript is a name with brackets that hold a command: where bash takes a text for an
// expression or a name, it runs what is in them, quoted or not.
var subscript = regexp.MustCompile("\\w\\[[^\\]]*(\\$\\(([^(]|\\([^()]*\\)[^)])|`)")

// evaluators are commands that take their arguments for expressions or names.
var evaluators = []string{"let", "test", "[", "read", "unset", "printf", "mapfile", "readarray", "wait", "declare", "typeset", "local", "export", "readonly"}

// evaluated looks for commands in texts that bash may evaluate.
func (s source) evaluated(words []Word) {
	if slices.ContainsFunc(words, func(w Word) bool { return subscript.MatchString(w.Text) }) {
		s.doubt("bash runs what stands in the brackets behind a name")
	}
}
