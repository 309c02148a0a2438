package pathguard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin/paths"
	"github.com/hookrouter/hookrouter/internal/builtin/shell"
)

// use is what a command does to the files among its arguments.
type use int

const (
	unknown   use = iota // nobody knows
	none                 // they are no files
	reads                // it reads them
	writes               // it changes them
	writeLast            // it reads them, and changes the last one
)

var uses = func() map[string]use {
	all := map[string]use{}
	for use, names := range map[use]string{
		none: "echo printf true false : exit return kill sleep seq date export declare local readonly typeset alias unset set shift type which whereis man test [ history jobs wait ulimit umask",
		reads: "cat tac head tail less more most bat nl od hexdump strings grep egrep fgrep rg ag ack awk gawk mawk sed cut paste sort uniq wc tr column fold diff cmp comm file stat ls ll dir tree" +
			" du df find fd locate readlink realpath basename dirname md5sum sha1sum sha256sum sha512sum cksum base64 base32 jq yq xmllint zcat zless zgrep bzcat xzcat cd pushd source . bash sh zsh dash" +
			" python python2 python3 node ruby perl php java go gcc g++ cc c++ clang clang++ ld make cmake cargo rustc javac gdb strace ldd nm objdump getfacl lsof vimdiff view open xdg-open pdftotext" +
			" curl wget ssh env sudo xargs time timeout nice nohup exec command doas su",
		writes:    "rm rmdir unlink shred srm truncate touch mkdir mkfifo mknod tee chmod chown chgrp chattr setfacl vi vim nvim nano emacs ed ex pico patch trash mktemp gzip gunzip bzip2 xz unxz zstd split csplit dd sponge del erase",
		writeLast: "cp install ln rsync scp ditto",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = use
		}
	}
	all["mv"] = writes
	return all
}()

// goesDown are commands that touch all that is below a directory.
var goesDown = []string{"rm", "mv", "cp", "rsync", "chmod", "chown", "chgrp", "find", "fd", "rg", "ag", "ack", "tar", "zip", "shred", "srm", "scp", "ditto", "7z"}

// ofScript is what the commands of a line do to files.
func ofScript(script shell.Script) (all []access, unclear []string) {
	for _, c := range script.Commands {
		s := &collector{dirs: c.Dirs}
		for _, r := range c.Redirects {
			s.word(r.File, r.File.Text, access{reads: !r.Write, writes: r.Write}, true)
		}
		s.command(c)
		all, unclear = append(all, s.all...), append(unclear, s.unclear...)
	}
	return all, unclear
}

// collector collects what one command does.
type collector struct {
	dirs    []string // nil: nobody knows
	all     []access
	unclear []string
}

func (s *collector) command(c shell.Command) {
	name := c.Name()
	does, known := uses[name]
	if name == "sed" && (shell.Option(c, "-i") != shell.No || shell.Option(c, "--in-place") != shell.No) {
		does = writes
	}
	if name == "find" && slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return w.Text == "-delete" }) {
		does = writes
	}
	below := slices.Contains(goesDown, name) || shell.Option(c, "-r") == shell.Yes && strings.HasSuffix(name, "grep")
	if does == none {
		return
	}
	args := c.Args()
	for i, w := range args {
		a := access{reads: true, below: below, unsure: does == unknown}
		a.writes = does == writes || does == writeLast && i == len(args)-1
		if i > 0 && slices.Contains(outputs[name], args[i-1].Text) || slices.ContainsFunc(outputs[name], func(option string) bool {
			return len(w.Text) > len(option) && strings.HasPrefix(w.Text, option)
		}) {
			a.writes = true
		}
		text := w.Text
		if key, value, found := strings.Cut(text, "="); found && (strings.HasPrefix(text, "-") || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") == "") {
			text = value
			a.writes = a.writes && name != "dd" || name == "dd" && key == "of" || does == writeLast && strings.HasPrefix(key, "--target")
		} else if strings.HasPrefix(text, "-") {
			at := strings.IndexAny(text, "/~")
			if at < 0 {
				continue
			}
			text = text[at:]
		}
		text = strings.TrimLeft(text, "@<") // curl -d @file
		s.word(w, text, a, known && (does == writes || does == reads || does == writeLast) && !runner[name])
	}
}

// outputs are the options of commands that read, and write the file that such an option
// names: in the next word, or in the same one.
var outputs = map[string][]string{
	"curl": {"-o", "--output", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar"},
	"wget": {"-O", "--output-document", "-P", "--directory-prefix", "-o", "--output-file", "-a"},
	"sort": {"-o", "--output"}, "go": {"-o"}, "tree": {"-o"}, "strace": {"-o"}, "rustc": {"-o", "--out-dir"}, "javac": {"-d"},
	"gcc": {"-o"}, "g++": {"-o"}, "cc": {"-o"}, "c++": {"-o"}, "clang": {"-o"}, "clang++": {"-o"}, "ld": {"-o"},
}

// runner are commands whose arguments are mostly no files.
var runner = map[string]bool{
	"curl": true, "wget": true, "ssh": true, "env": true, "sudo": true, "xargs": true, "time": true, "timeout": true, "nice": true, "nohup": true, "exec": true, "command": true, "doas": true, "su": true,
	"bash": true, "sh": true, "zsh": true, "dash": true, "python": true, "python2": true, "python3": true, "node": true, "ruby": true, "perl": true, "php": true, "java": true, "go": true, "make": true, "cmake": true, "cargo": true,
	"grep": true, "egrep": true, "fgrep": true, "rg": true, "awk": true, "sed": true, "jq": true, "yq": true, "find": true, "cd": true, "pushd": true, "gcc": true, "cc": true, "clang": true, "tr": true, "sort": true, "gdb": true, "strace": true,
}

// word is a file that a command names; file says that it certainly is one.
func (s *collector) word(w shell.Word, text string, a access, file bool) {
	if text == "" || strings.Contains(text, "://") && !strings.HasPrefix(text, "file://") {
		return
	}
	if !w.Known {
		if file {
			s.unclear = append(s.unclear, fmt.Sprintf("which file %s is can't be known", clip(w.Text)))
		}
		return
	}
	a.glob = w.Glob
	dirs := s.dirs
	if len(dirs) == 0 {
		dirs = []string{""}
		if file && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~") {
			s.unclear = append(s.unclear, fmt.Sprintf("where %s is can't be known", clip(text)))
		}
	}
	for _, dir := range dirs {
		a.path = paths.Resolve(text, dir)
		s.all = append(s.all, a)
	}
}
