package shell

import (
	"regexp"
	"slices"
	"strings"
)

// Assign is an assignment to a variable.
type Assign struct {
	Name  string
	Value Word
}

// Values of variables with which programs run nothing else.
var (
	noCommand  = regexp.MustCompile(`^(|cat|less|more|true|false|:|vi|vim|nano|never|/dev/null)$`)
	noFile     = regexp.MustCompile(`^(/dev/null)?$`)
	noRunner   = regexp.MustCompile(`^(rustc|rustdoc|clippy-driver|sccache)?$`)
	noCode     = regexp.MustCompile(`^(-(Xm[sxn]\w+|D(file\.encoding|user\.timezone|java\.awt\.headless)=[\w/.-]+) ?)*$`)
	installed  = regexp.MustCompile(`^((/(usr|opt|lib|lib64|snap|nix|Library)(/[\w+-][\w.+-]*)*:?)+)?$`)
	makeFlags  = regexp.MustCompile(`^([\s-]*([jklns]+ ?\d*|no-print-directory|silent))*$`)
	compiler   = regexp.MustCompile(`^((ccache|sccache) )?((/usr(/local)?/bin/)?(\w+-)*(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|gfortran|flang|ld|lld|ar|pkg-config|pkgconf)(-[\d.]+)?|zig (cc|c\+\+)( -target [\w.-]+)?)?$`)
	repository = regexp.MustCompile(`^(\.git)?$`)
	hereProxy  = regexp.MustCompile(`^((https?|socks5h?)://)?((localhost|127\.0\.0\.1|\[::1\])(:\d+)?/?)?$`)
)

// commandVariables name a command that other programs run, a file that they take code from, or
// something else that changes what a name means. Each expression matches the values that don't.
var commandVariables = func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{
		"NODE_OPTIONS": regexp.MustCompile(`^(--(max|trace|no-|enable-source-maps|openssl-legacy|unhandled|stack|experimental-vm|dns)[-a-z]*(=[\w-]+)? ?)*$`),
		"GOFLAGS":      regexp.MustCompile(`^(-(mod|tags|count|p|v|race|trimpath|buildvcs|timeout|modcacherw)(=[\w,.-]+)? ?)*$`),
		"GOPROXY":      regexp.MustCompile(`^(direct|off|https://proxy\.golang\.org|[,|])*$`),
		"GOENV":        regexp.MustCompile(`^(off)?$`),
		"GOAUTH":       regexp.MustCompile(`^(off|netrc)?$`),
		"MIRIFLAGS":    regexp.MustCompile(`^(-Zmiri-[\w=-]+ ?)*$`),
		"RUBYOPT":      regexp.MustCompile(`^(-W[\w:-]*)?$`),
		"LESS":         regexp.MustCompile(`^[^+]*$`),
		"BROWSER":      regexp.MustCompile(`^(none|firefox|chrome|true|false|:)?$`),
		"SHELL":        regexp.MustCompile(`^((/usr)?(/local)?/bin/)?(ba|da|z|k|fi)?sh$`),
		"IFS":          regexp.MustCompile(`^\W*$`),
		// A warning category is imported by name.
		"PYTHONWARNINGS": regexp.MustCompile(`^((ignore|error|default|always|module|once)(:[^:.,]*(:\w*Warning)?)?,?)*$`),
		// These disable the verification of a connection's peer.
		"NODE_TLS_REJECT_UNAUTHORIZED": regexp.MustCompile(`^1?$`), "GIT_SSL_NO_VERIFY": regexp.MustCompile(`^(0|false)?$`),
		"GIT_ALLOW_PROTOCOL": regexp.MustCompile(`^((https|ssh|file):?)*$`),
		"GIT_WORK_TREE":      regexp.MustCompile(`^\.?$`), "XDG_CONFIG_HOME": regexp.MustCompile(`^(~/\.config)?$`), "PYTHONINSPECT": regexp.MustCompile(`^$`), "PYTHONBREAKPOINT": regexp.MustCompile(`^0?$`),
	}
	for values, names := range map[*regexp.Regexp]string{
		noCommand: "KUBECTL_EXTERNAL_DIFF CCACHE_PREFIX LUA_INIT PYTEST_PLUGINS DISTCC MAKE PROMPT_COMMAND GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND FCEDIT VISUAL GH_BROWSER LESSOPEN LESSCLOSE RSYNC_RSH SVN_SSH CVS_RSH npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL",
		noFile: "BASH_ENV ENV LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH GCONV_PATH SHELLOPTS BASHOPTS CDPATH GIT_EXEC_PATH GIT_TEMPLATE_DIR" +
			" GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT PERL5OPT PERL5DB PYTHONSTARTUP PYTHONHOME TAR_OPTIONS VIMINIT EXINIT ZDOTDIR MAKEFILES" +
			" GOCACHEPROG LESSKEY LESSKEYIN LESSKEY_CONTENT CURL_HOME WGETRC SYSTEM_WGETRC FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS FZF_DEFAULT_OPTS_FILE XDG_CONFIG_DIRS",
		noRunner: "CARGO_BUILD_RUSTC CARGO_BUILD_RUSTC_WRAPPER CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER", noCode: "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS", installed: "LD_LIBRARY_PATH GOROOT",
		makeFlags: "MAKEFLAGS GNUMAKEFLAGS", compiler: "CC CXX FC LD AR PKG_CONFIG", repository: "GIT_DIR GIT_COMMON_DIR",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = values
		}
	}
	return all
}()

// namesCompiler reports whether a word sets the compiler of a build, which may include options.
func namesCompiler(w Word) bool {
	name, _, _ := strings.Cut(w.Text, "=")
	return commandVariables[name] == compiler || name == "MAKE" || name == "SHELL"
}

// proxyName matches variables that name the proxy of network connections.
var proxyName = regexp.MustCompile(`^(?i)(https?|all|ftp)_proxy$`)

// commandName matches the names of variables whose value is a command.
var commandName = regexp.MustCompile(`(EDITOR|PAGER|ASKPASS)$|^CARGO_TARGET_\w+_(RUNNER|LINKER)$`)

// plainPrompt matches a prompt that runs nothing. \\w and $LINENO are evaluated by the prompt
// itself.
var plainPrompt = regexp.MustCompile(`^([^$` + "`" + `]|\$\{?(LINENO|FUNCNAME|BASH_SOURCE|BASHPID|SECONDS)(\[0\]|##\*/|:-)*\}?)*$`)

// harmlessName matches variables that, whatever their value, only change the verbosity of a
// program, the target of a build or the like.
var harmlessName = regexp.MustCompile(`^(CI|NO_COLOR|FORCE_COLOR|CLICOLOR(_FORCE)?|COLORTERM|TERM|COLUMNS|LINES|LANG|LC_[A-Z]+|TZ|GOOS|GOARCH|GOARM|GOMAXPROCS|CGO_ENABLED|NODE_ENV|RAILS_ENV|RACK_ENV|MIX_ENV` +
	`|DEBUG|VERBOSE|RUST_LOG|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONUTF8|GIT_TERMINAL_PROMPT|DEBIAN_FRONTEND)$`)

// toolDirectory matches a directory of commands outside the agent's project.
var toolDirectory = regexp.MustCompile(`^(/(usr|bin|sbin|opt|snap|nix|Library|Applications)(/[\w.+-]+)*|(~|\$HOME|\$\{HOME\})/(bin|\.local/bin|go/bin|\.cargo/bin|\.bun/bin|\.deno/bin))/?$`)

// ownDirectory matches a directory of programs that the project's package manager installs.
var ownDirectory = regexp.MustCompile(`^((\./|\$PWD/|\$\{PWD\}/|\$\(pwd\)/)?(node_modules/\.bin|\.?venv/bin|vendor/bin))/?$`)

// runs reports whether a variable may make other programs run something, and whether this value
// does.
func (a Assign) runs() (may, does bool) {
	values, known := commandVariables[a.Name]
	switch {
	case a.Name == "PATH":
		return true, !harmlessPath(a.Value.Text)
	case strings.HasPrefix(a.Name, "BASH_FUNC_") || strings.HasPrefix(a.Name, "GIT_CONFIG_KEY_"):
		return true, true
	case strings.HasPrefix(a.Name, "PS") && len(a.Name) == 3:
		return true, !plainPrompt.MatchString(a.Value.Text) || !a.Value.Known
	case proxyName.MatchString(a.Name):
		values = hereProxy
	case !known && commandName.MatchString(a.Name):
		values = noCommand
	case !known:
		return false, false
	}
	return true, !a.Value.Known || !values.MatchString(a.Value.Text)
}

// Harmless reports whether the variable has no effect on what programs do.
func (a Assign) Harmless() bool {
	may, does := a.runs()
	return may && !does || harmlessName.MatchString(a.Name)
}

// harmlessPath reports whether the directories before the old value are those of installed tools.
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

// OwnPath is the doubt about a PATH that puts the project's installed programs before others.
const OwnPath = "the variable PATH puts the project's programs before others"

// ownPath reports whether the directories before the old value are those of installed tools, of the
// machine or of the project.
func ownPath(value string) bool {
	for dir := range strings.SplitSeq(value, ":") {
		if dir == "$PATH" || dir == "${PATH}" {
			return true
		}
		if !ownDirectory.MatchString(dir) && !harmlessPath(dir) {
			return false
		}
	}
	return false
}

// homes are variables that determine what ~ and relative names refer to.
var homes = []string{"HOME", "PWD", "OLDPWD"}

// doubtVariable raises a doubt about a value that makes other programs run something.
func (s source) doubtVariable(a Assign) {
	switch _, does := a.runs(); {
	case does && a.Name == "PATH" && ownPath(a.Value.Text):
		s.doubt(OwnPath)
	case does && a.Name == "PATH":
		s.doubt("the variable PATH changes which commands the names mean")
	case does && proxyName.MatchString(a.Name):
		s.doubt("the variable " + clip(a.Name) + " leads elsewhere what programs send")
	case does:
		s.doubt("the variable " + clip(a.Name) + " makes other programs run something")
	}
}

// doubtDirectories raises a doubt about ~ and relative names if the line sets one of homes in its
// own shell.
func (s source) doubtDirectories(name string) {
	if slices.Contains(homes, name) {
		s.doubt("the variable " + name + " changes where ~ and other names lead")
	}
}
