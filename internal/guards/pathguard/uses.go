package pathguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// use is what a command does to its operands.
type use int

const (
	unknown use = iota
	none        // they are not files
	reads       // it reads them
	writes      // it changes them
	copies      // it reads them, and writes the last one, or files with their names in it
	moves       // it changes them, and writes files with their names in the last one
	links       // writing to the last one writes to them
	runs        // it reads the first; its effect on the others is unknown
)

var uses = func() map[string]use {
	all := map[string]use{}
	for use, names := range map[use]string{
		none: "basename dirname echo printf true false : exit return kill sleep seq export declare local readonly typeset alias unset set shift type which whereis man test [ history jobs wait ulimit umask",
		reads: "date cat tac head tail less more most bat nl od hexdump strings grep egrep fgrep rg ag ack awk gawk mawk sed gsed cut paste sort wc tr column fold diff cmp comm file stat ls ll dir tree" +
			" du df find fd locate readlink realpath yamllint actionlint hadolint shellcheck kubeconform cloc tokei scc javap jdeps readelf size md5sum sha1sum sha256sum sha512sum cksum base64 base32 jq yq xmllint zcat zless zgrep bzcat xzcat cd pushd" +
			" gcc g++ cc c++ clang clang++ ld cmake rustc javac strace ldd nm objdump getfacl lsof vimdiff view open xdg-open" +
			" curl wget ssh env sudo xargs time timeout nice nohup exec command doas su",
		writes: "rm rmdir unlink shred srm truncate touch mkdir mkfifo mknod tee chmod chown chgrp chattr setfacl vi vim nvim nano emacs ed ex pico patch trash mktemp gzip gunzip bzip2 xz unxz zstd split csplit dd sponge del erase",
		copies: "cp install rsync scp ditto uniq pdftotext",
		moves:  "mv",
		links:  "ln",
		runs:   "source . bash sh zsh dash python python2 python3 node ruby perl php java go make cargo gdb",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = use
		}
	}
	return all
}()

// listing are readers that reveal only names and sizes of files.
var listing = []string{"ls", "ll", "dir", "du", "df", "stat", "tree", "wc"}

// changers are readers that change their operands with one of these options.
var changers = map[string][]string{"sed": {"-i", "--in-place"}, "gsed": {"-i", "--in-place"}, "yq": {"-i", "--inplace"}, "find": {"-delete"}, "awk": {"-i"}, "gawk": {"-i"}}

// editing is the option that makes some interpreters edit their operands in place.
var editing = output{"aclnpsStTuUwW0123456789", []string{"-i"}}

func edits(c shell.Command) bool {
	return (c.Name() == "perl" || c.Name() == "ruby") && slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
		suffix, next := editing.of(w.Text)
		return suffix != "" || next
	})
}

// gitReads are the verbs of git that do not change their files, and gitNames those that do not read
// them either.
var (
	gitReads = []string{"diff", "log", "show", "blame", "annotate", "status", "grep", "shortlog", "whatchanged", "ls-tree", "cat-file", "diff-tree", "diff-index", "diff-files", "add", "stage", "commit"}
	gitNames = []string{"check-ignore", "check-attr", "ls-files"}
)

func useOf(c shell.Command) (does use, known bool) {
	does, known = uses[c.Name()]
	if c.Name() == "git" {
		switch verb := c.Verb(); {
		case slices.Contains(gitReads, verb):
			does = reads
		case slices.Contains(gitNames, verb), verb == "rm" && shell.Option(c, "--cached") == shell.Yes:
			does = none
		}
	}
	if archives(c) {
		does = reads
	}
	if c.MayHave(changers[c.Name()]...) {
		does = writes
	}
	return does, known
}

// recursive are the options with which a command accesses everything below a directory. A command
// without options always does.
var recursive = map[string][]string{
	"mv": nil, "ln": nil, "rsync": nil, "ditto": nil, "trash": nil, "find": nil, "fd": nil, "rg": nil, "ag": nil, "ack": nil,
	"tar": nil, "bsdtar": nil, "cpio": nil, "zip": nil, "unzip": nil, "7z": nil,
	"rm": {"-r", "-R", "--recursive"}, "cp": {"-r", "-R", "-a", "--recursive", "--archive"}, "scp": {"-r"}, "shred": {"-r"}, "srm": {"-r"},
	"chmod": {"-R", "--recursive"}, "chown": {"-R", "--recursive"}, "chgrp": {"-R", "--recursive"}, "setfacl": {"-R", "--recursive"},
	"grep": {"-r", "-R", "--recursive"}, "egrep": {"-r", "-R", "--recursive"}, "fgrep": {"-r", "-R", "--recursive"}, "zgrep": {"-r"},
	"git": {"clone", "submodule", "worktree", "restore", "checkout", "mv", "rm"},
}

func goesDown(c shell.Command) bool { return among(recursive, c) }

// among reports whether a table contains a command with one of its options.
func among(table map[string][]string, c shell.Command) bool {
	options, found := table[c.Name()]
	return found && (options == nil || slices.ContainsFunc(options, func(option string) bool {
		return shell.Option(c, option) != shell.No || c.Has(option)
	}))
}

// fillers write files with other names to their working directory, with one of these options, or
// always.
var fillers = map[string][]string{
	"tar": nil, "bsdtar": nil, "unzip": nil, "7z": nil, "cpio": nil, "patch": nil, "wget": nil, "split": nil, "csplit": nil,
	"curl": {"-O", "-J", "--remote-name", "--remote-name-all", "--remote-header-name"},
}

func fills(c shell.Command) bool { return among(fillers, c) && !archives(c) }

// keyMakers are verbs of openssl that create a key.
var keyMakers = strings.Fields("req genrsa genpkey ecparam")

// makesKey reports whether a command writes a new key.
func makesKey(c shell.Command) bool {
	return c.Name() == "openssl" && c.Does(1, keyMakers)
}

// installDirectory matches an option that names a directory to which make install will write.
var installDirectory = regexp.MustCompile(`^--(prefix|exec-prefix|(s?bin|lib|libexec|include|data|dataroot|man|info|doc|sysconf|localstate|runstate)dir)=`)

// installsLater reports whether an option of configure names a directory to which configure itself
// does not write.
func installsLater(c shell.Command, option string) bool {
	return c.Name() == "configure" && installDirectory.MatchString(option)
}

// entering are commands that change to a directory by -C.
var entering = []string{"git", "tar", "bsdtar", "make", "gmake", "ninja", "go"}

// runner are commands whose operands are mostly not files.
var runner = map[string]bool{
	"date": true, "curl": true, "wget": true, "ssh": true, "env": true, "sudo": true, "xargs": true, "time": true, "timeout": true, "nice": true, "nohup": true, "exec": true, "command": true, "doas": true, "su": true,
	"bash": true, "sh": true, "zsh": true, "dash": true, "python": true, "python2": true, "python3": true, "node": true, "ruby": true, "perl": true, "php": true, "java": true, "go": true, "make": true, "cmake": true, "cargo": true,
	"grep": true, "egrep": true, "fgrep": true, "rg": true, "awk": true, "sed": true, "jq": true, "yq": true, "find": true, "cd": true, "pushd": true, "gcc": true, "cc": true, "clang": true, "tr": true, "sort": true, "gdb": true, "strace": true,
}

// wrapping are commands that run the command after their own options.
var wrapping = strings.Fields("env sudo doas xargs time timeout nice nohup exec command")

// output describes the options of a command that name an output file.
type output struct {
	flags   string // letters that may precede the option's letter, as in curl -sSLo
	options []string
}

var (
	archive  = output{tarFlags + "cru", []string{"-f", "--file", "-g", "--listed-incremental", "--index-file"}}
	compiler = output{options: []string{"-o"}}
	site     = output{options: []string{"-d", "--destination", "--site-dir", "--dest-dir"}}
	copier   = output{"abdfHilLnpPrRsuvxZDTC", []string{"-t", "--target-directory"}}
	// writing are options that name the output in most programs.
	writing = strings.Fields("--out-dir --outdir --outDir --output-dir --output-path --output-file --outfile --out-file --target-dir --metadata-file --pack-destination --coverageDirectory --junitxml --cpu-prof-dir --diagnostic-dir")
	outputs = map[string]output{
		"curl":   {"#012346aBfgGiIjJklLnNOpqRsSvZ", []string{"-o", "--output", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--etag-save", "--hsts", "--alt-svc", "--ssl-sessions"}},
		"wget":   {"bdcFhHkKLmnNpqrSvVxE", []string{"-O", "--output-document", "-P", "--directory-prefix", "-o", "--output-file", "-a", "--append-output", "--save-cookies", "--rejected-log", "--warc-file"}},
		"base64": {"dDi", []string{"-o", "--output"}},
		"sort":   {"bcdfghimnrRsuVz", []string{"-o", "--output"}}, "cp": copier, "mv": copier, "ln": copier, "install": copier,
		"find": {options: []string{"-fprintf", "-fprint", "-fprint0", "-fls"}}, "xmllint": {options: []string{"-o", "--output"}},
		"less": {options: []string{"-o", "-O", "--log-file", "--LOG-FILE"}}, "time": {"apqvV", []string{"-o", "--output"}}, "strace": {"cCdfFhiknqrtTvVwxyzZ", []string{"-o", "--output"}},
		"tree": {"adfilpsughDFqNQrtUvACSnXJ", []string{"-o"}}, "javac": {options: []string{"-d"}}, "rustc": {options: []string{"-o", "--out-dir", "--emit"}},
		"pandoc": {options: []string{"-o", "--output"}}, "terraform": {options: []string{"-out"}}, "tofu": {options: []string{"-out"}}, "openssl": {options: []string{"-out", "-keyout", "-writerand"}}, "rollup": {options: []string{"-o", "--file", "-d", "--dir"}}, "webpack": {options: []string{"-o", "--output-path"}},
		"hugo": site, "jekyll": site, "mkdocs": site, "mdbook": site,
		"git": {options: []string{"--output"}}, "tar": archive, "bsdtar": archive,
		"go":  {options: []string{"-o", "-coverprofile", "-cpuprofile", "-memprofile", "-blockprofile", "-mutexprofile", "-trace", "-outputdir"}},
		"gcc": compiler, "g++": compiler, "cc": compiler, "c++": compiler, "clang": compiler, "clang++": compiler, "ld": compiler,
	}
)

// of returns the file that a word names for an output option. next is true if the next word names
// it.
func (o output) of(word string) (file string, next bool) {
	for _, option := range o.options {
		name, value, given := strings.Cut(word, "=")
		switch {
		case len(word) < 2 || word[0] != '-':
		case name == option || strings.HasPrefix(option, "--") && len(name) > 3 && strings.HasPrefix(option, name):
			return value, !given
		case len(option) == 2 && word[1] != '-':
			if letters := strings.TrimLeft(word[1:], o.flags); letters != "" && letters[0] == option[1] {
				return strings.TrimPrefix(letters[1:], "="), len(letters) == 1
			}
		}
	}
	return "", false
}
