package shell

import (
	"slices"
	"strings"
)

// wrapper is a command that runs the command after its own options.
type wrapper struct {
	flags, values string // letters of options, without and with a value
	long          string // long options; one that takes a value ends with =
	operands      int    // its own words before the command
	assigns       bool   // NAME=value may precede the command
	line          bool   // the arguments are joined to a line for a shell
	more          bool   // it appends arguments from its input
	login         bool   // without a command it runs a shell
	free          bool   // unknown options are allowed and have no separate values
	verbs         string // words, one of which must precede the command
	names         string // if the first word is one of these, it begins the command
	fetches       bool   // the command is the name of a package, maybe with a version
	dir           string // options that name the directory where the command runs
	dashes        bool   // the command follows a --; without one, there is no command
	parted        bool   // a -- may be between the command and its arguments; the command does not see it
	home          string // options that make it run in a home directory; * means always
}

// container runs a command in another file system, where paths have another meaning. Options that
// give it access to the machine, or that change the command, are unknown on purpose.
var container = wrapper{
	verbs: "exec run", operands: 1, flags: "ditTPq", values: "cehlmpuvw",
	long: "help rm init interactive tty detach publish-all quiet read-only no-deps service-ports build no-TTY quiet-pull" +
		" name= env= publish= volume= mount= workdir= user= network= net= hostname= platform= memory= cpus= pull= label= tmpfs= shm-size= add-host= restart= ulimit= env-file= gpus= index= expose= dns=",
}

// architecture runs a command with the personality of another machine.
var architecture = wrapper{flags: "3BFILRSTXZv", values: "p", long: "32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 verbose pid="}

// coverage runs a command and reports which of its code ran.
var coverage = wrapper{free: true, values: "rxnob", long: "reporter= report-dir= reports-dir= temp-dir= temp-directory= include= exclude= extension= cwd= lines= branches= functions= statements= require= src= watermarks="}

var wrappers = map[string]wrapper{
	"sudo": {
		flags: "ABbEHiKklNnPSsVv", values: "aCcDgGhpRrtTUu", assigns: true, login: true, dir: "-D --chdir", home: "-i --login",
		long: "askpass background preserve-env close-from= chdir= group= set-home help host= login remove-timestamp reset-timestamp list no-update non-interactive" +
			" preserve-groups prompt= chroot= role= stdin shell type= command-timeout= other-user= user= version validate",
	},
	"doas":       {flags: "Lns", values: "Cau", login: true},
	"env":        {flags: "i0v", values: "uC", assigns: true, dir: "-C --chdir", long: "ignore-environment null unset= chdir= debug"},
	"nohup":      {},
	"time":       {flags: "apqvVhl", values: "fo", long: "append format= output= portability quiet verbose"},
	"nice":       {flags: "0123456789", values: "n", long: "adjustment="},
	"ionice":     {flags: "t", values: "cn", long: "class= classdata= ignore"},
	"timeout":    {flags: "fpv", values: "ks", operands: 1, long: "foreground kill-after= preserve-status signal= verbose"},
	"command":    {flags: "pvV"},
	"builtin":    {},
	"exec":       {flags: "cl", values: "a"},
	"stdbuf":     {values: "ioe", long: "input= output= error="},
	"setsid":     {flags: "cfw", long: "ctty fork wait"},
	"chroot":     {operands: 1, long: "groups= userspec= skip-chdir"},
	"caffeinate": {flags: "disu", values: "tw"},
	"flock":      {flags: "sxeonuF", values: "wE", operands: 1, long: "shared exclusive unlock nonblock no-fork timeout= wait= conflict-exit-code= verbose"},
	"watch":      {flags: "bcdegptwx", values: "nq", line: true, long: "beep color differences errexit chgexit interval= precise no-title exec"},
	"strace":     {flags: "cCdfFhiknqrtTvVwxyzZ", values: "abeEIoOpPsSuUX"},
	"ltrace":     {flags: "bcCfiLrStT", values: "aAeDFlnopsuwx"},
	"ssh":        {flags: "46AaCfGgKkMNnqsTtVvXxYy", values: "BbcDEeFIiJLlmOopPQRSWw", operands: 1, line: true, login: true, home: "*"},
	"busybox":    {},
	"toybox":     {},
	"sudoedit":   {operands: 1 << 20},
	"entr":       {flags: "acdnprxz"},
	"setpriv":    {flags: "d", long: "reuid= regid= ruid= euid= rgid= egid= init-groups clear-groups keep-groups groups= inh-caps= ambient-caps= bounding-set= securebits= pdeathsig= reset-env no-new-privs"},
	"taskset":    {flags: "ac", operands: 1, long: "all-tasks cpu-list"},
	"chrt":       {flags: "abfiorRv", values: "DPT", operands: 1, long: "batch fifo idle other rr reset-on-fork verbose"},
	"prlimit":    {free: true}, "valgrind": {free: true}, "systemd-inhibit": {free: true}, "dbus-run-session": {free: true}, "xvfb-run": {flags: "a", values: "enfpsw", long: "auto-servernum server-args= server-num="},
	"unbuffer": {flags: "p"}, "proxychains": {flags: "q"}, "proxychains4": {flags: "q"}, "torsocks": {}, "rlwrap": {free: true}, "cross-env": {assigns: true},
	"gosu": {operands: 1}, "su-exec": {operands: 1}, "setuidgid": {operands: 1}, "envdir": {operands: 1}, "eatmydata": {}, "chronic": {}, "tini": {flags: "gsvw", values: "ep"}, "dumb-init": {flags: "cv", values: "r"},
	"sg": {flags: "c", operands: 1, line: true, login: true}, "newgrp": {operands: 1, login: true},
	"setarch": architecture, "linux32": architecture, "linux64": architecture, "i386": architecture, "i486": architecture, "i586": architecture, "i686": architecture, "x86_64": architecture, "uname26": architecture,
	"aarch64": architecture, "arm64": architecture, "ppc": architecture, "ppc64": architecture, "ppc64le": architecture, "s390x": architecture, "riscv64": architecture,
	"arch":     {free: true, values: "d", assigns: true},
	"numactl":  {flags: "abHls", values: "CimNpPw", long: "all balancing hardware localalloc show interleave= weighted-interleave= preferred= preferred-many= physcpubind= cpunodebind= membind="},
	"cpulimit": {flags: "bfikmqvz", values: "celpPrs", long: "limit= pid= exe= path= cpu= background foreground include-children lazy kill monitor-forks quiet verbose"},
	"perf": {
		verbs: "stat record trace", flags: "aABdginNqRSTvW", values: "cCDeFGIkmMoprtux",
		long: "all-cpus event= output= pid= tid= cpu= repeat= field-separator= interval-print= delay= per-core per-socket per-thread no-big-num detailed quiet verbose append call-graph= count= freq= all-user all-kernel summary",
	},
	"nyc": coverage, "c8": coverage, "bear": {free: true, values: "o", long: "output= config="}, "nbqa": {line: true},
	"gotestsum": {verbs: "--raw-command", free: true, values: "f", long: "format= junitfile= jsonfile= packages= rerun-fails-max-failures= max-fails= jsonfile-timing-events= hide-summary= format-icons= junitfile-project-name= junitfile-testcase-classname= junitfile-testsuite-name= rerun-fails-report="},
	"ccache":    {flags: "sczCpvVh", long: "show-stats zero-stats cleanup clear show-config print-stats verbose version help"}, "sccache": {flags: "szV", long: "show-stats zero-stats start-server stop-server version"},
	"lerna": {verbs: "exec", free: true, long: "scope= ignore= concurrency= since="}, "nx": {verbs: "exec", free: true},
	"tmux":    {verbs: "new-session new", flags: "dADPXhvbkZ", values: "csntxyl", line: true, dir: "-c"},
	"dotenvx": {verbs: "run", free: true, values: "ef", long: "env= env-file= env-vault-file= env-keys-file= convention="},
	"uv":      {verbs: "run", flags: "qvms", values: "p", long: "with= python= project= directory= extra= group= env-file= all-extras no-sync no-project isolated frozen locked active module script quiet verbose"},
	"poetry":  {verbs: "run"}, "pipenv": {verbs: "run"}, "pdm": {verbs: "run"}, "hatch": {verbs: "run"}, "rye": {verbs: "run"}, "conda": {verbs: "run", values: "np", long: "name= prefix= no-capture-output"},
	"docker": container, "podman": container, "docker-compose": container, "podman-compose": container, "nix": {verbs: "-c --command"},
	"mise": {verbs: "exec x", dashes: true, login: true}, "tox": {verbs: "exec", dashes: true}, "devbox": {verbs: "run", dashes: true}, "stack": {verbs: "exec", free: true, parted: true}, "cabal": {verbs: "exec", free: true, parted: true}, "opam": {verbs: "exec", free: true}, "catchsegv": {},
	"mamba": {verbs: "run", values: "np", long: "name= prefix= no-capture-output"}, "micromamba": {verbs: "run", values: "np", long: "name= prefix="},
	"bundle": {verbs: "exec"}, "rbenv": {verbs: "exec"}, "pyenv": {verbs: "exec"}, "asdf": {verbs: "exec"}, "direnv": {verbs: "exec", operands: 1}, "ip": {verbs: "exec", operands: 1},
	"npm": {verbs: "exec x", fetches: true, flags: "yq", long: "yes no package= quiet"}, "pnpm": {verbs: "exec dlx", names: "node", fetches: true, flags: "r", long: "package= recursive"}, "yarn": {verbs: "exec dlx", names: "node", fetches: true, flags: "q", values: "p"},
	"npx": {fetches: true, flags: "yq", values: "p", long: "yes no no-install package= quiet ignore-existing prefer-offline"}, "bunx": {fetches: true, long: "bun"}, "pnpx": {fetches: true}, "uvx": {fetches: true, flags: "q", values: "p", long: "from= with= python= quiet"},
	"xargs": {
		flags: "0oprtx", values: "adEILlnPsSRJ", more: true,
		long: "null arg-file= delimiter= eof replace= max-lines= max-args= open-tty max-procs= interactive process-slot-var= no-run-if-empty max-chars= show-limits verbose exit",
	},
}

// wrapped returns the command that a wrapper runs. ok is false if its options are unknown, so that
// the beginning of the command is uncertain.
func (w wrapper) wrapped(words []Word) (inner []Word, ok bool) {
	if len(words) > 0 && slices.Contains(strings.Fields(w.names), words[0].Text) {
		return words, true
	}
	if w.verbs != "" {
		at := slices.IndexFunc(words, func(word Word) bool { return slices.Contains(strings.Fields(w.verbs), word.Text) })
		if at < 0 || at > 0 && len(words[at].Text) == 1 {
			return nil, true
		}
		words = words[at+1:]
	}
	if w.dashes {
		at := slices.IndexFunc(words, func(word Word) bool { return !word.Known || word.Text == "--" })
		if at < 0 {
			return nil, true
		}
		return w.behind(words[at+1:]), words[at].Known
	}
	for a := range w.options().In(words) {
		switch {
		case a.Known && a.Name == "":
			inner = w.behind(a.From)
			if w.operands > 0 && len(inner) > 0 && strings.HasPrefix(inner[0].Text, "-") { // ssh host -t x
				w.operands, w.verbs = 0, ""
				return w.wrapped(inner)
			}
			return inner, true
		case !a.Known || a.Glob:
			// The caller judges a command whose name is unknown.
			return a.From, !a.Many && a.Name == "" && w.operands == 0
		case a.Text == "--":
			return w.behind(a.Rest), true
		case !a.Listed && !w.free && a.Text != "-":
			return nil, false
		}
	}
	return nil, true
}

func (w wrapper) options() Options { return Options{Flags: w.flags, Values: w.values, Long: w.long} }

// behind skips what else precedes the command.
func (w wrapper) behind(words []Word) []Word {
	for w.assigns && len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	words = words[min(w.operands, len(words)):]
	if at := slices.IndexFunc(words, func(word Word) bool { return word.Known && word.Text == "--" }); w.parted && at >= 0 {
		words = slices.Delete(slices.Clone(words), at, at+1)
	}
	if w.fetches && len(words) > 0 {
		words = slices.DeleteFunc(slices.Clone(words), func(word Word) bool { return word.Known && word.Text == "--" })
		if name, _, found := strings.Cut(words[0].Text, "@"); found && name != "" {
			words[0].Text = name
		}
	}
	return words
}

// dirs returns where a wrapper runs its command if the wrapper itself runs in one of dirs.
func (w wrapper) dirs(dirs []string, options []Word) []string {
	for a := range w.options().In(options) {
		switch {
		case w.home == "*" || slices.ContainsFunc(strings.Fields(w.home), func(option string) bool { return hasOption(a.Text, option) }):
			return []string{"~"}
		case !a.Takes || !slices.Contains(strings.Fields(w.dir), a.Name):
			continue
		case !a.Value.Known:
			return nil
		}
		dirs = slices.Clone(dirs)
		for i := range dirs {
			dirs[i] = join(dirs[i], strings.TrimPrefix(a.Value.Text, "="))
		}
	}
	return dirs
}

func isAssignment(w Word) bool {
	name, _, found := strings.Cut(w.Text, "=")
	return found && name != "" && !strings.ContainsAny(name, "$`/ ")
}
