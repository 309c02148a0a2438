package shell

import (
	"regexp"
	"slices"
	"strings"
)

// interpreter is a program that is given code in a language of its own.
type interpreter struct {
	code  []string // options that code follows
	stdin bool     // without a file it runs what it reads
	name  string   // of the language, for people
}

var interpreters = map[string]interpreter{
	"python": {[]string{"-c"}, true, "Python"}, "pypy": {[]string{"-c"}, true, "Python"},
	"perl": {[]string{"-e", "-E"}, true, "Perl"}, "ruby": {[]string{"-e"}, true, "Ruby"},
	"node": {[]string{"-e", "-p", "--eval", "--print"}, true, "JavaScript"}, "nodejs": {[]string{"-e", "-p", "--eval", "--print"}, true, "JavaScript"},
	"bun": {[]string{"-e", "--eval", "-p", "--print"}, false, "JavaScript"}, "deno": {[]string{"eval"}, false, "JavaScript"},
	"php": {[]string{"-r", "-B", "-R", "-E", "--run"}, true, "PHP"}, "lua": {[]string{"-e"}, true, "Lua"}, "luajit": {[]string{"-e"}, true, "Lua"},
	"rscript": {[]string{"-e"}, false, "R"}, "osascript": {[]string{"-e"}, true, "AppleScript"}, "tclsh": {nil, true, "Tcl"},
	"emacs": {[]string{"--eval", "-eval"}, false, "Emacs Lisp"}, "fish": {[]string{"-c", "--command", "-C"}, true, "fish"},
	"nu": {[]string{"-c", "--commands"}, true, "Nushell"}, "xonsh": {[]string{"-c"}, true, "xonsh"}, "csh": {[]string{"-c"}, true, "csh"}, "tcsh": {[]string{"-c"}, true, "csh"},
}

// runners run commands that they are given in ways which are not read here.
var runners = map[string]string{
	"powershell": "", "pwsh": "", "cmd": "", "wsl": "", "parallel": "", "nsenter": "", "unshare": "", "expect": "", "script": "",
	"at": "", "batch": "", "systemd-run": "", "pkexec": "", "machinectl": "", "firejail": "", "bwrap": "", "proot": "", "fakeroot": "", "socat": "",
	"docker": "run exec", "podman": "run exec", "kubectl": "run exec debug", "oc": "run exec rsh", "lxc": "exec", "vagrant": "ssh", "gcloud": "ssh",
	"tmux": "new new-session send send-keys run run-shell if-shell split-window respawn-pane neww new-window", "screen": "-X -dm -dmS -d -S",
}

// helpers are options with which a program runs a command; one that ends with * may
// be followed by anything.
var helpers = map[string][]string{
	"tar":   {"--to-command*", "--checkpoint-action*", "-I*", "--use-compress-program*", "--info-script*", "--new-volume-script*", "-F*", "--rsh-command*"},
	"rsync": {"-e*", "--rsh*", "--rsync-path*"}, "scp": {"-S*", "-oProxyCommand*", "ProxyCommand*"}, "sftp": {"-S*"},
	"ssh": {"ProxyCommand*", "-oProxyCommand*", "LocalCommand*", "-oLocalCommand*"}, "rg": {"--pre", "--pre=*"}, "fd": {"-x*", "-X*", "--exec*"}, "fdfind": {"-x*", "-X*", "--exec*"},
	"sort": {"--compress-program*"}, "split": {"--filter*"}, "man": {"-P*", "--pager*", "-H*"}, "zip": {"-TT*", "--unzip-command*"}, "nc": {"-e*", "-c*"}, "ncat": {"-e*", "-c*", "--exec*", "--sh-exec*"},
	"netcat": {"-e*", "-c*"}, "vim": {"-c*", "+*", "--cmd*", "-S*"}, "vi": {"-c*", "+*", "--cmd*"}, "nvim": {"-c*", "+*", "--cmd*", "-S*"}, "gdb": {"-ex*", "--eval-command*", "-x*"}, "less": {"+*"},
	"go": {"-exec*", "-toolexec*", "-vettool*"}, "npm": {"--script-shell*"}, "make": {"SHELL=*", "--eval*"}, "gmake": {"SHELL=*", "--eval*"},
	"git": {
		"--upload-pack*", "--receive-pack*", "--exec*", "--exec-path=*", "--ext-diff", "--open-files-in-pager*", "ext::*", "bisect run", "submodule foreach", "filter-branch", "-x*",
	},
	"npx": {"-c*", "--call*"}, "mysql": {"--pager*"}, "psql": {"\\!*"}, "sqlite3": {".shell*", ".system*"}, "openssl": {"-engine*"}, "crontab": {"-"},
}

var (
	cmdlet       = regexp.MustCompile(`^[A-Za-z]+-[A-Z][A-Za-z]+$`)
	versioned    = regexp.MustCompile(`[0-9.]+$`)
	awkRuns      = regexp.MustCompile(`system|[|]|getline|@|>`)
	sedRuns      = regexp.MustCompile(`(^|[;{}\n0-9$/!])\s*e(\s|$|;)|[^A-Za-z\s][gpiImM0-9]*e[gpiImM0-9]*\s*($|[;}\n])`)
	gitConfigRun = regexp.MustCompile(`(?i)^(alias\.|core\.(pager|editor|sshcommand|hookspath|fsmonitor|askpass|gitproxy)|pager\.|diff\..*(command|external|textconv)|diff\.external|filter\.|merge\..*driver|sequence\.editor|credential\..*helper|.*\.(helper|cmd|program)|include)`)
)

// program looks whether a program is given code.
func (s source) program(c *Command, name string, ctx context) {
	args := c.Args()
	if text := c.Words[0].Text; strings.Contains(text, "/") && len(s.made(text)) > 0 {
		c.Runs = append(c.Runs, s.made(text)...)
		c.doubt("it runs a file that the same line makes: " + clip(text))
	}
	if cmdlet.MatchString(c.Words[0].Text) && !strings.ContainsAny(c.Words[0].Text, "./") && name != c.Words[0].Text {
		c.doubt("PowerShell is not read here: " + clip(c.Words[0].Text))
	}
	if verbs, ok := runners[name]; ok && (verbs == "" || slices.ContainsFunc(args, func(a Word) bool {
		return !a.Known || slices.Contains(strings.Fields(verbs), a.Text)
	})) {
		c.doubt("what " + name + " runs is not read here")
	}
	for _, option := range helpers[name] {
		if slices.ContainsFunc(args, func(a Word) bool { return isOption(option, a.Text) }) {
			c.doubt(name + " is told to run a command: " + clip(option))
		}
	}
	language, known := interpreters[name]
	if !known {
		language, known = interpreters[versioned.ReplaceAllString(name, "")]
	}
	switch {
	case known:
		s.interpreter(c, language, ctx)
	case name == "git":
		c.gitConfig(args)
	case name == "sed" || name == "gsed":
		c.code(args, sedRuns, "sed")
	case slices.Contains([]string{"awk", "gawk", "mawk", "nawk"}, name):
		c.code(args, awkRuns, "awk")
	}
}

func isOption(option, text string) bool {
	if start, open := strings.CutSuffix(option, "*"); open {
		return strings.HasPrefix(text, start) && !(len(start) == 2 && strings.HasPrefix(text, "--"))
	}
	return option == text || strings.HasSuffix(option, " "+text)
}

// interpreter is given code in its arguments, or reads it.
func (s source) interpreter(c *Command, of interpreter, ctx context) {
	file := false
	for _, a := range c.Args() {
		for _, option := range of.code {
			cluster := len(option) == 2 && len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Contains(a.Text, option[1:])
			if !file && (a.Text == option || cluster || len(option) > 2 && strings.HasPrefix(a.Text, option+"=")) {
				c.Runs = append(c.Runs, runsOf(c.Args())...)
				c.doubt("code in " + of.name + " is not read here")
				return
			}
		}
		if !file && !strings.HasPrefix(a.Text, "-") {
			file = true
			s.file(c, a, ctx)
		}
	}
	if !file && of.stdin && ctx.feed != nil {
		c.Runs = append(c.Runs, ctx.feed.from...)
		c.doubt("code in " + of.name + " is not read here")
	}
}

func runsOf(words []Word) (all []string) {
	for _, w := range words {
		all = append(all, w.Runs...)
	}
	return all
}

// gitConfig looks for settings of git that name a command.
func (c *Command) gitConfig(args []Word) {
	for i, a := range args {
		if i > 0 && (args[i-1].Text == "-c" || slices.ContainsFunc(args[:i], func(w Word) bool { return w.Text == "config" })) || strings.HasPrefix(a.Text, "--config-env") {
			if key := strings.TrimPrefix(a.Text, "--config-env="); gitConfigRun.MatchString(key) {
				c.doubt("git is told to run a command: " + clip(key))
			}
		}
	}
}

// code looks for what runs commands in the arguments of sed and awk.
func (c *Command) code(args []Word, runs *regexp.Regexp, language string) {
	for _, a := range args {
		if runs.MatchString(a.Text) && !strings.HasPrefix(a.Text, "-") {
			c.doubt(language + " may be told to run a command")
		} else if !a.Known && strings.ContainsAny(a.Text, "$`{") && a.Text[0] != '-' && !strings.ContainsAny(a.Text, "/.") {
			c.doubt("the code for " + language + " is known only when it runs: " + clip(a.Text))
		}
	}
}
