package bashvalidator

import (
	"path"
	"slices"
	"strings"
)

// systemDirs are directories a machine does not survive without.
var systemDirs = set("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run",
	"/sbin", "/srv", "/sys", "/usr", "/var", "/users", "/system", "/library", "/applications", "/private", "/volumes")

// destroys reports whether a program with these arguments destroys the machine,
// or a person's home.
func (s *shell) destroys(name string, args []string) bool {
	flags, operands := split(args)
	switch {
	case name == "rm":
		return slices.Contains(flags, "--no-preserve-root") ||
			has(flags, 'r', "--recursive") && slices.ContainsFunc(operands, s.isPrecious)
	case name == "find":
		removes := func(a string) bool { return a == "-delete" || base(a) == "rm" }
		return slices.ContainsFunc(args, removes) && !slices.ContainsFunc(flags, chooses) &&
			len(operands) > 0 && s.isPrecious(operands[0])
	case name == "chmod" || name == "chown" || name == "chgrp":
		return has(flags, 'r', "--recursive") && slices.ContainsFunc(operands, func(o string) bool { return s.target(o) == "/" })
	case name == "cp" || name == "mv":
		return len(operands) > 0 && disk.MatchString(operands[len(operands)-1])
	case writers[name] || isMkfs(name):
		return slices.ContainsFunc(operands, disk.MatchString)
	}
	return false
}

// split tells flags from operands; flags may follow operands, until "--".
func split(args []string) (flags, operands []string) {
	for i, a := range args {
		switch {
		case a == "--":
			return flags, append(operands, args[i+1:]...)
		case strings.HasPrefix(a, "-") && a != "-":
			flags = append(flags, a)
		default:
			operands = append(operands, a)
		}
	}
	return flags, operands
}

// has reports whether a flag is given: by its letter, in either case and alone or
// with others, or by its name, which may be cut short.
func has(flags []string, letter byte, long string) bool {
	return slices.ContainsFunc(flags, func(f string) bool {
		if strings.HasPrefix(f, "--") {
			return len(f) > 3 && strings.HasPrefix(long, f)
		}
		return strings.IndexByte(strings.ToLower(f), letter) > 0
	})
}

// chooses reports whether a flag of find leaves files out.
func chooses(flag string) bool {
	for _, f := range [...]string{"-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-size", "-newer", "-user", "-empty", "-mtime", "-mmin", "-atime"} {
		if strings.HasPrefix(flag, f) {
			return true
		}
	}
	return false
}

// isPrecious reports whether what an operand names must not be removed.
func (s *shell) isPrecious(operand string) bool {
	t := s.target(operand)
	dir, name := path.Split(t)
	switch {
	case systemDirs[t], t == "~", t == "$home", t == "${home}":
		return true
	case strings.HasPrefix(t, "~") && dir == "": // ~somebody
		return true
	case dir == "/home/" || dir == "/users/":
		return true
	default:
		return dir == "/" && strings.ContainsAny(name, "*?[{")
	}
}

// target is the directory that an operand empties or removes: /etc/* and /etc/.
// are /etc. It is in lower case.
func (s *shell) target(operand string) string {
	t := strings.ToLower(s.resolve(operand))
	for {
		dir, name := path.Split(t)
		if name == "" || strings.Trim(name, "*.?!]") != "" && name != ".[!.]*" {
			return t
		}
		if dir == "" { // * in an unknown place
			return "."
		}
		t = path.Clean(dir)
	}
}

// resolve is where a path leads from the directory that cd went to.
func (s *shell) resolve(p string) string {
	root, _, _ := strings.Cut(p, "/")
	if s.dir != "" && root != "" && root[0] != '~' && root[0] != '$' {
		p = s.dir + "/" + p
		root, _, _ = strings.Cut(p, "/")
	}
	clean := path.Clean(p)
	if root != "" && (root[0] == '~' || root[0] == '$') && (clean == "." || strings.HasPrefix(clean, "..")) {
		return "/" // out of a home
	}
	return clean
}
