package shell

import (
	"regexp"
	"slices"
	"strings"
)

// calls is what code asks subprocess and urllib for: a command of words that are told, and what
// stands at an address. They are judged as if a line ran the command, or curl.
func (p *python) calls(i int) (more int, ok bool) {
	if p.at(i+1).kind != '.' {
		return 0, false
	}
	if p.is(i, "urllib") {
		return p.fetches(i)
	}
	switch does := p.at(i + 2).value; {
	case slices.Contains([]string{"PIPE", "DEVNULL", "STDOUT"}, does):
		return 2, true
	case !slices.Contains([]string{"run", "check_output", "check_call", "call"}, does) || p.at(i+3).kind != '(' || p.at(i+4).kind != '[':
		return 0, false
	}
	var words []Word
	for j := i + 5; ; j += 2 {
		w := p.word(j)
		if w.Text == "" || len(words) == 0 && !w.Known {
			return 0, false
		}
		words = append(words, w)
		switch p.at(j + 1).kind {
		case ',':
		case ']':
			p.runs = append(p.runs, words)
			return j + 1 - i, p.options(j + 2)
		default:
			return 0, false
		}
	}
}

// word is one of a command. What a name stands for is not known.
func (p *python) word(i int) Word {
	switch t := p.at(i); {
	case t.kind == 't' && t.plain:
		return Word{Text: t.value, Known: true}
	case t.kind == 'n' && p.known[t.value]:
		return Word{Text: "$" + t.value}
	}
	return Word{}
}

// options reports whether what stands behind the words of a command, up to the bracket that
// closes, only says what becomes of its output.
func (p *python) options(i int) bool {
	for ; p.at(i).kind == ','; i += 4 {
		name := p.at(i + 1).value
		if !slices.Contains([]string{"capture_output", "text", "check", "timeout", "stdout", "stderr", "encoding", "universal_newlines"}, name) || p.at(i+2).kind != '=' {
			return p.at(i+1).kind == ')'
		}
		if p.is(i+3, "subprocess") {
			i += 2
		}
	}
	return p.at(i).kind == ')'
}

// fetches is urllib.request.urlopen('address').
func (p *python) fetches(i int) (more int, ok bool) {
	t := p.at(i + 6)
	address, ok := p.fixed[t.value]
	if t.kind == 't' {
		address, ok = t.value, t.plain
	}
	timed := p.at(i+7).kind == ',' && p.is(i+8, "timeout") && p.at(i+9).kind == '=' && p.at(i+10).kind == '0' && p.at(i+11).kind == ')'
	if !ok || !p.is(i+2, "request") || p.at(i+3).kind != '.' || !p.is(i+4, "urlopen") || p.at(i+5).kind != '(' || p.at(i+7).kind != ')' && !timed {
		return 0, false
	}
	p.runs = append(p.runs, []Word{{Text: "curl", Known: true}, {Text: "--", Known: true}, {Text: address, Known: true}})
	return 6, true
}

// queries is sqlite3.connect('file') and what the database is asked, judged as if sqlite3 were given
// it.
func (p *python) queries(i int) (more int, ok bool) {
	switch {
	case p.is(i, "execute"):
		t, end := p.at(i+2), p.at(i+3).kind
		if p.at(i+1).kind != '(' || t.kind != 't' || !t.plain || strings.HasPrefix(t.value, ".") || end != ')' && end != ',' {
			return 0, false
		}
		p.runs = append(p.runs, []Word{{Text: "sqlite3", Known: true}, {Text: p.base, Known: true}, {Text: t.value, Known: true}})
		return 2, true
	case p.at(i+1).kind != '.':
		return 0, false
	case p.is(i+2, "Row"):
		return 2, true
	}
	text, ok := p.text(i + 4)
	if !ok || p.base != "" || !p.is(i+2, "connect") || p.at(i+3).kind != '(' || p.at(i+5).kind != ')' || strings.HasPrefix(text, "-") {
		return 0, false
	}
	p.base = text
	p.add(text, false)
	return 4, true
}

var (
	// standard are modules of Python's own that reach further than their version.
	standard   = strings.Fields("os sys subprocess shutil socket importlib builtins pty ctypes urllib http ftplib smtplib glob sqlite3 pickle marshal shelve runpy code codeop antigravity this idlelib turtledemo site test webbrowser")
	moduleName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

func (p *python) hasOther(name string) bool {
	_, is := p.others[name]
	return is
}

// ownModule reports whether a module may be one that is installed or of the project: to import it
// does what a script of the project does.
func ownModule(name string) bool {
	return moduleName.MatchString(name) && !slices.Contains(standard, name) && !slices.Contains(pythonModules, name) && !pythonOthers.MatchString(name) && !powerful(name) && !slices.Contains(pythonWords, name) && !codeWords[name]
}
