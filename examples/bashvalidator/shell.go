package bashvalidator

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxPath bounds how much of cd after cd is followed, in bytes.
const maxPath = 1024

// shell follows what a script would do, as far as it matters.
type shell struct {
	dir string // where cd went, "" for the unknown place it began in
}

var (
	// Words that stand before a command and say nothing about it.
	keywords = set("!", "{", "}", "if", "then", "else", "elif", "fi", "while", "until", "do", "done")
	// Programs that run the program named in their arguments.
	wrappers = set("sudo", "doas", "env", "nohup", "time", "timeout", "nice", "ionice", "exec", "command", "builtin",
		"xargs", "busybox", "toybox", "stdbuf", "setsid", "chroot", "unshare")
	// Programs that run a script given with -c.
	shells = set("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "su")
	// Programs whose arguments are a script.
	evals = set("eval", "trap")
	// Programs that write to the files they are given.
	writers = set("tee", "shred", "wipefs", "blkdiscard", "dd")

	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
	scriptFlag = regexp.MustCompile(`^-[A-Za-z]*c[A-Za-z]*$`)
	disk       = regexp.MustCompile(`^(?:of=)?/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper/|dm-|md)`)
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// script returns the first dangerous command of a script, or "".
func (s *shell) script(src string, nesting int) (string, error) {
	if strings.Contains(strings.Join(strings.Fields(src), ""), ":(){:|:&};:") {
		return ":(){ :|:& };:", nil
	}
	commands, err := parse(src, nesting)
	if err != nil {
		return "", err
	}
	for _, c := range commands {
		if found, err := s.run(c, nesting); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

// run returns the command's text where it is dangerous, or "".
func (s *shell) run(c *command, nesting int) (string, error) {
	if i := slices.IndexFunc(c.writes, disk.MatchString); i >= 0 {
		return "> " + c.writes[i], nil
	}
	words := program(c.words)
	if len(words) == 0 {
		return "", nil
	}
	name, args := base(words[0]), words[1:]
	switch {
	case name == "cd" || name == "pushd":
		s.cd(args)
	case shells[name]:
		if i := slices.IndexFunc(args, scriptFlag.MatchString); i >= 0 && i+1 < len(args) {
			return s.script(args[i+1], nesting+1)
		}
		return s.script(c.input, nesting+1)
	case evals[name]:
		return s.script(strings.Join(args, " "), nesting+1)
	case s.destroys(name, args):
		return strings.Join(words, " "), nil
	}
	return "", nil
}

// program returns the words from the program on that does the work.
func program(words []string) []string {
	for len(words) > 0 {
		switch name := base(words[0]); {
		case keywords[words[0]] || assignment.MatchString(words[0]):
			words = words[1:]
		case wrappers[name]:
			rest := words[1:]
			i := slices.IndexFunc(rest, func(w string) bool { return known(base(w)) })
			if i < 0 {
				return nil
			}
			words = rest[i:]
		default:
			return words
		}
	}
	return nil
}

// known reports whether a program is one that is judged, or leads to one.
func known(name string) bool {
	return wrappers[name] || shells[name] || evals[name] || writers[name] || isMkfs(name) ||
		slices.Contains([]string{"rm", "find", "chmod", "chown", "chgrp", "cp", "mv"}, name)
}

// base is a program's name without its directory, as a file system that does not
// care about case finds it.
func base(word string) string { return strings.ToLower(path.Base(word)) }

func isMkfs(name string) bool { return name == "mkfs" || strings.HasPrefix(name, "mkfs.") }

func (s *shell) cd(args []string) {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") && a != "-" })
	switch {
	case len(args) == 0:
		s.dir = "~"
	case args[0] == "-":
		s.dir = ""
	default:
		s.dir = s.resolve(args[0])
	}
	if len(s.dir) > maxPath {
		s.dir = ""
	}
}
