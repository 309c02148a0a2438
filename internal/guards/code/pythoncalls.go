package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

// pythonCalls parses calls of subprocess with a literal command.
func (r *reader) pythonCalls(i int) (more int, ok bool) {
	if r.at(i+1).kind != '.' {
		return 0, false
	}
	line, alone := r.text(i + 4)
	switch does := r.at(i + 2).value; {
	case alone && r.at(i+3).kind == '(' && slices.Contains([]string{"getoutput", "getstatusoutput"}, does) && r.at(i+5).kind == ')':
		r.runs("sh", "-c", line)
		return 4, true
	case alone && r.at(i+3).kind == '(' && slices.Contains([]string{"run", "check_output", "check_call", "call"}, does) && r.is(i+6, "shell"):
		r.runs("sh", "-c", line)
		return 4, r.at(i+5).kind == ',' && r.at(i+7).kind == '=' && r.is(i+8, "True") && r.options(i+9)
	case slices.Contains([]string{"PIPE", "DEVNULL", "STDOUT", "CalledProcessError", "TimeoutExpired"}, does):
		return 2, true
	case !slices.Contains([]string{"run", "check_output", "check_call", "call"}, does) || !r.follow(i+3, "(["):
		return 0, false
	}
	var words []Word
	for j := i + 5; ; j += 2 {
		w := r.word(j)
		if w.Text == "" || len(words) == 0 && !w.Known {
			return 0, false
		}
		words = append(words, w)
		switch r.at(j + 1).kind {
		case ',':
		case ']':
			r.reach.Commands = append(r.reach.Commands, words)
			return j + 1 - i, r.options(j + 2)
		default:
			return 0, false
		}
	}
}

// word returns the word of a command at i. The value of a variable is unknown.
func (r *reader) word(i int) Word {
	switch t := r.at(i); {
	case t.kind == 't' && t.plain:
		return Word{Text: t.value, Known: true}
	case t.kind == 'n' && r.given[t.value]:
		return Word{Text: "$" + t.value}
	}
	return Word{}
}

// options reports whether the arguments after a command, up to the closing bracket, only control
// its output.
func (r *reader) options(i int) bool {
	for ; r.at(i).kind == ','; i += 4 {
		name := r.at(i + 1).value
		if !slices.Contains([]string{"capture_output", "text", "check", "timeout", "stdout", "stderr", "encoding", "universal_newlines"}, name) || r.at(i+2).kind != '=' {
			return r.at(i+1).kind == ')'
		}
		if r.is(i+3, "subprocess") {
			i += 2
		}
	}
	return r.at(i).kind == ')'
}

// pythonFetch parses urllib.request.urlopen('address'), and the functions of urllib.parse.
func (r *reader) pythonFetch(i int) (more int, ok bool) {
	switch {
	case r.at(i+1).kind == '.' && r.is(i+2, "parse"), r.follow(i+1, ".") && r.is(i+2, "error"):
		return 2, true
	case !r.is(i+2, "request") || r.at(i+3).kind != '.' || !r.is(i+4, "urlopen") || r.at(i+5).kind != '(':
		return 0, false
	}
	address, ok := r.text(i + 6)
	timed := r.at(i+7).kind == ',' && r.is(i+8, "timeout") && r.follow(i+9, "=0)")
	if !ok || r.at(i+7).kind != ')' && !timed {
		return 0, false
	}
	r.runs("curl", "--", address)
	return 6, true
}

var local = regexp.MustCompile(`^https?://(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(:\d+)?(/|$)`)

var requestArguments = wordset.Of("json data headers timeout params")

// pythonGet parses requests.get('address'), and other methods for a server on this machine.
func (r *reader) pythonGet(i int) (more int, ok bool) {
	method := r.at(i + 2).value
	switch {
	case r.at(i+1).kind != '.':
		return 0, false
	case shown[method] || method == "exceptions":
		return 2, true
	case r.at(i+3).kind != '(' || !slices.Contains([]string{"get", "head", "post", "put", "patch", "delete", "options"}, method):
		return 0, false
	}
	address, ok := r.text(i + 4)
	timed := r.at(i+5).kind == ',' && r.is(i+6, "timeout") && r.follow(i+7, "=0)")
	alone := r.at(i+5).kind == ')' || timed
	if !ok || strings.HasPrefix(address, "-") || !local.MatchString(address) && (!alone || method != "get" && method != "head") {
		return 0, false
	}
	for j, end := i+5, r.closing(i+3); j < end; j++ {
		if r.at(j).kind == 'n' && r.at(j+1).kind == '=' && r.at(j-1).kind == ',' && r.caller(j) == method && !requestArguments[r.at(j).value] || r.at(j).kind == '*' {
			return 0, false
		}
	}
	r.runs("curl", "-X", strings.ToUpper(method), "--", address)
	return 4, true
}

// pythonBase parses sqlite3.connect('file').
func (r *reader) pythonBase(i int) (more int, ok bool) {
	switch {
	case r.at(i+1).kind != '.':
		return 0, false
	case r.is(i+2, "Row"), shown[r.at(i+2).value], r.is(i+2, "sqlite_version"):
		return 2, true
	}
	text, ok := r.text(i + 4)
	if !ok || r.base != "" || !r.is(i+2, "connect") || !r.follow(i+3, "(") || r.at(i+5).kind != ')' || strings.HasPrefix(text, "-") {
		return 0, false
	}
	r.base = text
	r.opens(text, false)
	return 4, true
}

// pythonQuery parses a database query, which is evaluated as one of the program sqlite3.
func (r *reader) pythonQuery(i int) (more int, ok bool) {
	t, end := r.at(i+2), r.at(i+3).kind
	if r.base == "" || !r.member(i) || !r.follow(i+1, "(t") || !t.plain || strings.HasPrefix(t.value, ".") || end != ')' && end != ',' {
		return 0, false
	}
	r.runs("sqlite3", r.base, t.value)
	return 2, true
}
