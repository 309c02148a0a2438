package code

import (
	"regexp"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var (
	sysTells  = wordset.Of("argv stdin stdout stderr version version_info platform exit maxsize getsizeof executable byteorder getrecursionlimit setrecursionlimit prefix flags implementation maxunicode float_info getrefcount")
	pathTells = wordset.Of("exists isfile isdir join basename dirname splitext getsize getmtime abspath relpath normpath split isabs realpath commonpath")
	osTells   = wordset.Of("getcwd cpu_count sep linesep name getpid uname pathsep")
	ownDir    = regexp.MustCompile(`^\.?(/?[\w-][\w.-]*)*$`)
	// secretName matches names of variables that contain secrets; settable those that don't make
	// programs load code.
	secretName = regexp.MustCompile(`(?i)key|token|secret|pass|cred|auth|_ur[il]$|dsn|cookie|session|_pat$|pwd|jwt|sign|priv|webhook|conn|bearer|salt`)
	settable   = regexp.MustCompile(`^([A-Z_]*(SETTINGS_MODULE|DEVICES|THREADS|LEVEL|PARALLELISM|_DEBUG)|(NODE|FLASK|APP|RAILS|DJANGO)_ENV)$`)
)

// pythonSys parses harmless members of sys, and sys.path.insert(0, 'src') of a directory in the
// project.
func (r *reader) pythonSys(i int) (more int, ok bool) {
	if r.at(i+1).kind != '.' || r.at(i+2).kind != 'n' {
		return 0, false
	}
	if !r.is(i+2, "path") {
		if r.is(i+2, "argv") && (r.assigned(i+3) || r.at(i+3).kind == '.' || r.at(i+3).kind == ends) {
			return 0, false
		}
		return 2, sysTells[r.at(i+2).value]
	}
	if r.at(i+3).kind != '.' {
		return 2, !r.assigned(i+3) && (r.at(i+3).kind == ')' && r.is(i-2, "print") || r.at(i+3).kind == '[' && r.follow(i+4, "0])"))
	}
	at := i + 6
	if r.is(i+4, "insert") && r.follow(i+6, "0,") {
		at = i + 8
	} else if !r.is(i+4, "append") {
		return 0, false
	}
	dir, ok := r.text(at)
	return at - i, ok && r.at(i+5).kind == '(' && r.at(at+1).kind == ')' && ownDir.MatchString(dir) && !strings.HasPrefix(dir, "/") && !strings.Contains(dir, "..")
}

// pythonOS parses harmless functions of os, calls with a literal path or command, and access to
// variables that are not secret.
func (r *reader) pythonOS(i int) (more int, ok bool) {
	if r.at(i+1).kind != '.' {
		return 0, false
	}
	name := r.at(i + 2).value
	text, plain := r.text(i + 4)
	switch {
	case name == "path":
		return 4, r.at(i+3).kind == '.' && pathTells[r.at(i+4).value]
	case name == "listdir" && r.follow(i+3, "()"):
		return 2, true
	case name == "listdir", name == "walk", name == "scandir", name == "stat":
		r.opens(text, false)
		return 4, plain && r.follow(i+3, "(") && r.at(i+5).kind == ')'
	case (name == "system" || name == "popen") && r.at(i+5).kind == ')':
		r.runs("sh", "-c", text)
		return 4, plain && r.at(i+3).kind == '('
	case name == "makedirs":
		r.opens(text, true)
		return 4, plain && r.at(i+3).kind == '('
	case name == "getenv":
		return 4, plain && r.at(i+3).kind == '(' && !secretName.MatchString(text)
	case name == "environ":
		return r.environment(i)
	}
	return 2, osTells[name]
}

// assigned reports whether a statement assigns to or deletes the expression that ends before i.
func (r *reader) assigned(i int) bool {
	for j := i; r.at(j).kind != ends; j++ {
		if next, before := r.at(j+1).kind, r.at(j-1).kind; r.at(j).kind == '=' && next != '=' && before != '=' && before != '!' && before != '<' && before != '>' {
			return true
		}
	}
	for j := i; j >= 0 && r.at(j).kind != ends; j-- {
		if r.is(j, "del") || r.is(j, "for") || r.is(j, "with") {
			return true
		}
	}
	return false
}

// environment parses os.environ['NAME'], os.environ.get('NAME') and os.environ.setdefault('NAME',
// 'value').
func (r *reader) environment(i int) (more int, ok bool) {
	switch {
	case r.at(i+3).kind == '[':
		name := r.at(i + 4)
		sets := r.assigned(i + 6)
		r.setsEnv = r.setsEnv || sets
		return 4, name.plain && r.follow(i+4, "t]") && (settable.MatchString(name.value) || !sets && !secretName.MatchString(name.value))
	case r.follow(i+3, ".n("):
		name, plain := r.text(i + 6)
		r.setsEnv = r.setsEnv || r.is(i+4, "setdefault")
		reads := r.is(i+4, "get") && !secretName.MatchString(name)
		return 6, plain && r.at(i+6).kind == 't' && (reads || r.is(i+4, "setdefault") && settable.MatchString(name))
	}
	return 0, false
}
