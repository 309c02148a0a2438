package shell

import "regexp"

// runners run commands in ways that are not analyzed: if one of these words is among their
// arguments, unless one of those after a ! is, or always.
var runners = map[string]string{
	"powershell": "", "pwsh": "", "cmd": "", "wsl": "", "parallel": "", "nsenter": "", "unshare": "", "script": "",
	"at": "", "batch": "", "systemd-run": "", "pkexec": "", "machinectl": "", "firejail": "", "bwrap": "", "proot": "", "fakeroot": "", "socat": "",
	"watchexec": "", "chpst": "", "start-stop-daemon": "", "daemonize": "", "lxc-attach": "", "distrobox": "", "flatpak-spawn": "", "schtasks": "",
	"xterm": "", "gnome-terminal": "", "konsole": "", "alacritty": "", "kitty": "", "urxvt": "", "ansible": "! --version --help", "pdsh": "", "doppler": "run", "op": "run", "aws-vault": "exec",
	"docker": "create", "podman": "create", "nerdctl": "run exec create", "kubectl": "run exec debug", "oc": "run exec rsh", "lxc": "exec", "vagrant": "ssh", "gcloud": "ssh", "limactl": "shell", "multipass": "exec",
	"nix-shell": "--run --command", "nix": "run", "crontab": "! -l", "screen": "! -ls -list -v", "rails": "runner r console c", "manage.py": "shell shell_plus dbshell", "django-admin": "shell dbshell", "django": "shell shell_plus dbshell", "flask": "shell", "artisan": "tinker", "mix": "-e --eval eval cmd", "firebase": "emulators:exec", "wp": "eval eval-file shell", "rake": "-e -E --execute --execute-print",
	"tmux": "! ls list-sessions lsw list-windows lsp list-panes has has-session capture-pane capturep kill-session kill-window kill-pane kill-server display-message -V new-session new",
}

// helpers are options that make a program run a command. One that ends with * may have any suffix,
// and a preceding word must be present too.
var helpers = map[string][]string{
	"tar":   {"--to-command*", "--checkpoint-action*", "-I*", "--use-compress-program*", "--info-script*", "--new-volume-script*", "-F*", "--rsh-command*"},
	"rsync": {"-e*", "--rsh*", "--rsync-path*"}, "scp": {"-S*"}, "sftp": {"-S*", "-D*"},
	"rg": {"--pre", "--pre=*", "--hostname-bin*"}, "helm": {"--post-renderer*"},
	"bazel": {"--run_under*", "--workspace_status_command*"}, "bazelisk": {"--run_under*", "--workspace_status_command*"}, "java": {"-XX:OnError*", "-XX:OnOutOfMemoryError*"}, "javac": {"-J-javaagent*", "-J-agent*", "-J-XX:On*"},
	"sort": {"--compress-program*"}, "split": {"--filter*"}, "man": {"-P*", "--pager*", "-H*"}, "nc": {"-e*", "-c*"}, "ncat": {"-e*", "-c*", "--exec*", "--sh-exec*"},
	"netcat": {"-e*", "-c*"}, "entr": {"-s*"}, "vim": {"-c*", "+*", "--cmd*", "-S*"}, "vi": {"-c*", "+*", "--cmd*"}, "nvim": {"-c*", "+*", "--cmd*", "-S*"}, "gdb": {"-ex*", "--eval-command*", "-x*"}, "less": {"+*"},
	"mise": {"-c*", "--command*"}, "erl": {"-eval*"}, "lldb": {"-o*", "-O*", "--one-line*", "-s*", "-S*", "--source*", "-k*", "-K*", "-p*", "--attach*"}, "gnuplot": {"-e*"},
	"go": {"-exec*", "-toolexec*", "-vettool*"}, "npm": {"--script-shell*"},
	"git": {
		"--upload-pack*", "--receive-pack*", "--exec*", "--exec-path=*", "--ext-diff", "--open-files-in-pager*", "--template*", "-O*", "ext::*", "submodule foreach", "filter-branch", "rebase -x*", "difftool -x*", "rebase --ex*", "difftool --ex*", "clone -u*",
	},
	"npx": {"-c*", "--call*"}, "mysql": {"--pager*"}, "openssl": {"-engine*"}, "ex": {"-c*", "+*", "--cmd*", "-S*"}, "view": {"-c*", "+*", "--cmd*", "-S*"},
	"node": {"--import=data*", "data:*"}, "python": {"-mtimeit", "-m timeit", "-m pdb"}, "python3": {"-mtimeit", "-m timeit", "-m pdb"}, "emacs": {"--eval*", "-eval*", "--execute*", "-execute*", "--batch", "-batch", "-f*", "--funcall*", "--script*"},
	"just": {"-c", "--command", "--shell*"}, "mvn": {"exec:exec*", "-Dexec.exec*"}, "cargo": {"--config*"}, "tcpdump": {"-z*"}, "wget": {"--use-askpass*", "-e*", "--execute*"}, "gawk": {"-i*", "--include*", "-l*", "--load*"}, "rpm": {"--eval*", "-E*"}, "nodemon": {"-x*", "--exec*"},
	"gcc": {"-wrapper*", "-fplugin*", "-specs*"}, "g++": {"-wrapper*", "-fplugin*", "-specs*"}, "cc": {"-wrapper*", "-fplugin*", "-specs*"}, "clang": {"-fplugin*"}, "clang++": {"-fplugin*"}, "flock": {"-c*", "--command*"},
	"mongosh": {"--eval*"}, "mongo": {"--eval*"}, "bpython": {"-c*"}, "ptpython": {"-c*"},
	"complete": {"-C*"}, "compgen": {"-C*"}, "mapfile": {"-C*"}, "readarray": {"-C*"}, "enable": {"-f*"}, "hash": {"-p*"}, "bind": {"-x*"}, "jobs": {"-x"},
}

// flags are the letters that may precede a short option of helpers in the same argument.
var flags = map[string]string{
	"git rebase": "ivqfnmrk", "git grep": "nlLcivwhHEGFPqzapWr", "git clone": "qvnls", "git difftool": "ygd",
	"man": "adfkKwW7", "vim": viFlags, "vi": viFlags, "nvim": viFlags, "view": viFlags, "ex": viFlags, "flock": "sxeonuF", "npx": "yq",
	"rsync": "avzrlptgoDhPqnucSHAXxikmyW", "scp": "346ABCpqrTv", "sftp": "46ABCafNpqrv", "tcpdump": "AbdefhHIJKlLnNOpqStuUvxX#",
	"wget": "bcdqSNrkKmpxnvE", "enable": "adnps", "hash": "dlrt", "mapfile": "t", "readarray": "t",
}

const viFlags = "bdeElLmMnNpRsvyZ"

// harmlessHelpers are harmless commands that such options commonly name.
var harmlessHelpers = regexp.MustCompile(`^(ssh( -[46AaCqTvx]| -[ilp] ?[\w./~-]+)*|(zstd|zstdmt|gzip|pigz|bzip2|pbzip2|xz|lz4|lzma)( -[0-9T]+)*)$`)

// harmlessArguments are harmless arguments of such options, by program.
var harmlessArguments = map[string]*regexp.Regexp{
	"gdb": debuggerCommands, "lldb": debuggerCommands,
	"wget":    regexp.MustCompile(`^robots\s*=\s*(on|off)$`),
	"mongosh": regexp.MustCompile(`^\s*(db(\.[a-zA-Z_]\w*)*\.(find|findOne|countDocuments|estimatedDocumentCount|distinct|getIndexes|stats|getCollectionNames|getName|version|hello)\([^;()$=]*\)(\.(limit|skip|sort|pretty|toArray|count|size)\([^;()$=]*\))*|show (dbs|collections))\s*;?\s*$`),
}

// debuggerCommands are common commands that make a debugger run a program and print its state.
var debuggerCommands = regexp.MustCompile(`^(r|run|start|breakpoint set -[nlf] [\w.:]+|bt|bt full|backtrace|where|thread apply all bt( full)?|(info|i) [\w ]+|(frame|f|thread|up|down|next|n|step|s|finish|list|l) ?\d*|c|continue|q|quit|set (pagination|confirm|width|height|print [\w-]+) \w+|(b|break|tbreak) [\w.:]+|(p|print|x|display)(/\w+)? [\w>.*&+-]+|disas(semble)?( [\w:]+)?|catch \w+)$`)

// languages match arguments or input that make a program run commands.
var languages = map[string]*regexp.Regexp{
	"ed": bang, "red": bang, "dc": bang, "ftp": bang, "telnet": bang, "lftp": bang, "mail": regexp.MustCompile(`(^|\n)~`), "mailx": regexp.MustCompile(`(^|\n)~`),
	"sqlite3": regexp.MustCompile(`(?i)(^|\n)\s*\.(ar|cd|exc|im|lo|o|rea|sa|s\s|sh(e|\s|$)|sy|ww|x)|edit\s*\(|load_extension|(write|read)file\s*\(|fsdir\s*\(`),
	"duckdb":  regexp.MustCompile(`(?i)read_(text|blob)\s*\(|(^|\n)\s*\.(sh|sys|o|ex|im|rea|cd)|\b(getenv|install|load|attach)\b|\bto\s*'`),
	"psql":    regexp.MustCompile("\\\\(!|copy|[gow](\\s|x|$)|ir?(\\s|$)|ef|ev|e(\\s|$)|setenv)|`|(?i:(from|to)\\s+program)"),
	"mysql":   mysql, "mariadb": mysql, "m4": regexp.MustCompile(`syscmd`), "make": makefile, "gmake": makefile,
	"ssh": ssh, "scp": ssh, "sftp": regexp.MustCompile(`!|` + ssh.String()), "apt": invoke, "apt-get": invoke,
	"tex": tex, "latex": tex, "pdftex": tex, "pdflatex": tex, "xelatex": tex, "lualatex": tex, "latexmk": tex,
	"zip": regexp.MustCompile(`^-[^-\s]*TT|^--unz`),
}

var (
	bang     = regexp.MustCompile(`!`)
	mysql    = regexp.MustCompile(`(?i)\\[!.]|(^|\n)\s*(system|source|pager|tee)\b`)
	makefile = regexp.MustCompile(`^\.?SHELL(FLAGS)?\s*[:+?!]*=|^[^=]*!=|\$[({](shell|eval|guile|load|call|file)|^--ev|^-E` +
		"|^\\w+\\s*[:+?]*=.*(;|&&|\\|\\||`|\n)" + `|^(CC|CXX|CPP|LD|AR|AS|RM|CP|MV|INSTALL|MAKE|GO|PYTHON3?|NODE|NPM|CARGO|JAVA|JAVAC)\s*[:+?]*=\S*/`)
	ssh    = regexp.MustCompile(`(?i)(proxy|local|knownhosts)command|pkcs11provider|securitykeyprovider|^-[46AaCfGgKkMNnqsTtVvXxYy]*F`)
	invoke = regexp.MustCompile(`(?i)invoke|::(run|options)::=.*[;&|]`)
	tex    = regexp.MustCompile(`shell-escape|write18`)
)

// readers run commands in their input, as far as their language has commands.
var readers = []string{
	"ed", "red", "ex", "vi", "vim", "nvim", "view", "dc", "ftp", "sftp", "telnet", "lftp", "mail", "mailx", "sqlite3", "duckdb", "psql", "mysql", "mariadb", "m4", "gdb", "lldb", "erl", "mongosh", "mongo", "redis-cli", "crontab",
}

// databases are readers whose script files are treated like other files: their contents are not
// analyzed.
var databases = []string{"sqlite3", "psql", "mysql", "mariadb", "mongosh", "mongo"}

// including are programs whose language names files to read or write. Their input is kept if a pipe
// supplies it.
var including = []string{"ed", "red", "ex", "duckdb", "xmllint", "gcc", "g++", "cc", "c++", "clang", "clang++", "cpp", "as", "pandoc", "asciidoctor", "plantuml"}

// scripts are options that take a file with code. The contents of files are not analyzed, but the
// file may be the program's standard input.
var scripts = map[string]Options{
	"make": makeScripts, "gmake": makeScripts, "sed": sedScripts, "gsed": sedScripts, "just": {Values: "f", Long: "--justfile="}, "awk": {Values: "f", Long: "--file="},
	"gawk": {Values: "fil", Long: "--file= --include= --load="}, "mawk": {Values: "f"}, "nawk": {Values: "f"}, "psql": {Values: "f", Long: "--file="}, "sqlite3": {Long: "-init="}, "ninja": {Values: "f"},
}

var (
	makeScripts = Options{Values: "f", Long: "--file= --makefile="}
	sedScripts  = Options{Values: "f", Flags: "nErsuz", Long: "--file="}
)
