package shell

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// ownRoots are names that projects give their own packages. What those do is done by a
	// script of the project, too.
	ownRoots = strings.Fields("app src api core backend server main models utils lib tests services common helpers pkg schemas routes handlers parser")
	// reaches is in names of what reaches further than a look at the project.
	reaches = regexp.MustCompile(`(?i)^(os|sys|subprocess|shutil|socket|importlib|builtins|pty|ctypes|requests|httpx|urllib|pathlib|path|run|open|eval|exec|system)$|drop|delet|truncat|flush|purge|destroy|wipe|reset|remove|unlink|rmtree|rmdir|rename|secret|token(s|_|$)|passw|credential|_key|_url|dsn|environ|deploy|send|publish|upload|settings|config|command|shell|popen|spawn`)
	ownDir  = regexp.MustCompile(`^\.?(/?[\w-][\w.-]*)*$`)
)

// importsOwn is from package import names, of a package of the project: the names are known then.
func (p *python) importsOwn(i int) (more int, ok bool) {
	j := i + 1
	if !p.is(i, "from") || !slices.Contains(ownRoots, p.at(j).value) {
		return 0, false
	}
	for ; p.at(j+1).kind == '.' && p.at(j+2).kind == 'n'; j += 2 {
		if reaches.MatchString(p.at(j + 2).value) {
			return 0, false
		}
	}
	if !p.is(j+1, "import") {
		return 0, false
	}
	for j += 2; p.at(j).kind == 'n'; j += 2 {
		name := p.at(j).value
		if powerful(name) || reaches.MatchString(name) {
			return 0, false
		}
		p.own[name] = true
		if p.at(j+1).kind != ',' {
			return j - i, p.at(j+1).kind == ';'
		}
	}
	return 0, false
}

// member is what a name of the project's own packages is asked for.
func (p *python) member(i int) (more int, ok bool) {
	if p.at(i+1).kind != '.' {
		return 0, true
	}
	name := p.at(i + 2).value
	return 2, p.at(i+2).kind == 'n' && !powerful(name) && !reaches.MatchString(name)
}

// aggregates is df.agg('mean') and df.agg(['mean', 'max']): the texts are names of methods.
func (p *python) aggregates(i int) (more int, ok bool) {
	j := i + 2
	list := p.at(j).kind == '['
	if list {
		j++
	}
	for ; ; j += 2 {
		method, ok := p.text(j)
		if !ok || !slices.Contains(aggregations, method) {
			return 0, false
		}
		if p.at(j+1).kind != ',' {
			break
		}
	}
	if list && p.at(j+1).kind != ']' {
		return 0, false
	}
	return j - i, p.at(i+1).kind == '('
}

var aggregations = strings.Fields("count mean sum min max median std var nunique first last size")

// searches is sys.path.insert(0, 'src'): modules are of a directory of the project, too.
func (p *python) searches(i int) (more int, ok bool) {
	if p.is(i-2, "print") && p.at(i-1).kind == '(' && p.at(i+3).kind == ')' {
		return 2, true
	}
	if !p.is(i, "sys") || p.at(i+1).kind != '.' || !p.is(i+2, "path") || p.at(i+3).kind != '.' {
		return 0, false
	}
	at := i + 6
	if p.is(i+4, "insert") && p.at(i+6).kind == '0' && p.at(i+7).kind == ',' {
		at = i + 8
	} else if !p.is(i+4, "append") {
		return 0, false
	}
	dir, ok := p.text(at)
	return at - i, ok && p.at(i+5).kind == '(' && p.at(at+1).kind == ')' && ownDir.MatchString(dir) && !strings.HasPrefix(dir, "/") && !strings.Contains(dir, "..")
}

// globs finds the names that stand for each file of a pattern in turn: for f in glob.glob('*.json').
func (p *python) globs() {
	for i := range p.tokens {
		if !p.is(i, "for") || p.at(i+1).kind != 'n' || !p.is(i+2, "in") {
			continue
		}
		j := i + 3
		if p.is(j, "sorted") && p.at(j+1).kind == '(' {
			j += 2
		}
		if !p.is(j, "glob") || p.at(j+1).kind != '.' || !p.is(j+2, "glob") || p.at(j+3).kind != '(' || p.at(j+5).kind != ')' {
			continue
		}
		name, set := p.at(i+1).value, 0
		for k, t := range p.tokens {
			if next := p.at(k + 1); t.kind == 'n' && t.value == name && p.at(k-1).kind != '.' && (next.kind == '=' && p.at(k+2).kind != '=' || next.kind == ',' && p.at(k-1).kind == ';' || p.is(k-1, "for") || p.is(k-1, "as") || next.kind == ':') {
				set++
			}
		}
		if pattern, ok := p.text(j + 4); ok && set == 1 && !strings.Contains(pattern, "..") {
			p.globbed[name] = pattern
		}
	}
}

// What of the module os tells of paths.
var (
	pathTells = strings.Fields("exists isfile isdir join basename dirname splitext getsize getmtime")
	osTells   = strings.Fields("getcwd cpu_count sep linesep name")
)

// system is what code asks the module os for: where it is, and what stands in a directory that is
// named there.
func (p *python) system(i int) (more int, ok bool) {
	if p.at(i+1).kind != '.' {
		return 0, false
	}
	switch name := p.at(i + 2).value; {
	case name == "path":
		return 4, p.at(i+3).kind == '.' && slices.Contains(pathTells, p.at(i+4).value)
	case name == "listdir" && p.at(i+3).kind == '(' && p.at(i+4).kind == ')':
		return 2, true
	case name == "listdir", name == "walk":
		dir, ok := p.text(i + 4)
		p.add(dir, false)
		return 4, ok && p.at(i+3).kind == '(' && p.at(i+5).kind == ')'
	default:
		return 2, slices.Contains(osTells, name)
	}
}
