package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

// reader checks the tokens of a piece of code.
type reader struct {
	*language
	console bool
	tokens  []token
	fixed   map[string]string // constants: variables with one string literal that are only passed to functions that open files or print
	given   map[string]bool   // variables and functions that the code defines
	data    map[string]bool   // variables that contain parsed JSON
	alias   map[string]string // modules by the names under which they are imported
	globs   map[string]string // loop variables over the files of a pattern
	library bool              // modules outside the language are loaded
	fs      bool              // functions of fs may be extracted from the module
	frames  bool              // pandas, numpy or polars is loaded
	setsEnv bool              // an environment variable is set
	paths   bool              // pathlib is used
	joins   int               // slashes that may join paths and are not part of a form
	writes  bool              // some path is written
	zips    bool              // an archive is open
	writer  *bool             // cached result of [reader.writing]
	asked   map[string]bool   // modules of which only the version may be read
	base    string            // the open database file
	reach   Reach
}

// text returns the literal at i, or the value of the constant there. It must not be part of a
// larger expression.
func (r *reader) text(i int) (string, bool) {
	t := r.at(i)
	if t.kind == 'n' {
		value, ok := r.fixed[t.value]
		return value, ok && value != ""
	}
	next := r.at(i + 1).kind
	joined := next == 't' || next == field || next == '+' || next == '.' || next == '%' || next == '[' || r.at(i-1).kind == '+'
	return t.value, t.kind == 't' && t.plain && !joined && t.value != ""
}

func (r *reader) opens(name string, write bool) {
	r.reach.Files = append(r.reach.Files, File{Name: name, Write: write})
}

func (r *reader) runs(words ...string) {
	var all []Word
	for _, w := range words {
		all = append(all, Word{Text: w, Known: true})
	}
	r.reach.Commands = append(r.reach.Commands, all)
}

// loads records a module outside the language.
func (r *reader) loads(module string) {
	r.library = true
	r.reach.Modules = append(r.reach.Modules, module)
}

// token checks the token at i, and returns the number of further tokens consumed.
func (r *reader) token(i int) (more int, ok bool) {
	switch t := r.at(i); t.kind {
	case 't':
		return 0, r.mentions(i)
	case 'n':
		return r.name(i)
	}
	return 0, true
}

func (r *reader) name(i int) (more int, ok bool) {
	name := r.folded(i)
	if form := r.forms[name]; form != nil {
		if r.member(i) && formed[name] { // such as random.os
			return 0, false
		}
		return form(r, i)
	}
	switch {
	case r.refused[name], !r.member(i) && r.globals[name], r.check != nil && !r.check(r, i):
		return 0, false
	case strings.HasPrefix(name, "__"):
		return 0, dunders[name]
	case r.allowed[name], r.offered(i):
		return 0, true
	case r.member(i):
		return 0, r.harmless(i)
	case r.at(i+1).kind != '(' || r.given[name]:
		return 0, true
	case r.calls != nil:
		return 0, r.calls[name] || r.is(i-1, "new")
	case r.reached:
		return 0, r.harmless(i)
	}
	return 0, true
}

// folded returns the name at i as the language compares it.
func (r *reader) folded(i int) string {
	if r.fold {
		return strings.TrimPrefix(strings.ToLower(r.at(i).value), `\`)
	}
	return r.at(i).value
}

// dunders are special names that only give information.
var dunders = wordset.Of("__name__ __version__ __file__ __doc__ __init__ __len__ __repr__ __str__ __eq__ __iter__ __main__ __annotations__ __all__ __dirname __filename __DIR__ __FILE__ __MODULE__")

// harmless reports whether the member or function at i only computes, judging by its name. Members
// of parsed JSON are data.
func (r *reader) harmless(i int) bool {
	name := strings.TrimRight(r.folded(i), "!?")
	called := r.at(i+1).kind == '('
	if r.closed && !r.library || !called && r.data[r.root(i)] {
		return true
	}
	if r.console && r.bare && r.at(i+1).kind == '=' && r.at(i+2).kind != '=' && r.at(i+2).kind != '~' {
		return false // an assignment
	}
	return !reaches.MatchString(name) && !(r.console && (called || r.bare) && changes.MatchString(r.folded(i)))
}

var (
	// fileName matches a string that may name a file, and placed one outside the project.
	fileName = regexp.MustCompile(`^(~|\.{0,2}/|\.\w)[\w./@ -]*$|^[\w@-][\w./@ -]*(/[\w.@-]+|\.[a-zA-Z]\w{0,8})$`)
	placed   = regexp.MustCompile(`^(~|/(home|root|Users|etc|proc|run|var/run)\b)`)
	// writers match functions of libraries that write to a file.
	writers = regexp.MustCompile(`^(to_?(csv|json|parquet|excel|pickle|feather|hdf|html|markdown|latex|xml|file|string)|dump|save\w*|write[_.]\w+|imwrite|imsave|tofile|export\w*|dump_\w+|ggsave|pdf|png|svg|saveRDS|sink|write|file)$`)
	// modes match the modes that open a file for writing.
	modes = regexp.MustCompile(`^([wax][bt+]*|r[bt]?\+[bt]?)$`)
)

// mentions checks a string literal outside all forms. If libraries are loaded, it may name a file
// that they open.
func (r *reader) mentions(i int) bool {
	t := r.at(i)
	if r.named && naming.MatchString(t.value) && (reaches.MatchString(t.value) || r.refused[t.value]) {
		return false
	}
	if strings.Contains(t.value, ".__") || hiddenName.MatchString(t.value) && !dunders[t.value] {
		return false // '{0.__class__}'.format(x), x['__globals__']
	}
	if strings.HasPrefix(t.value, "|") && r.listed {
		return false // R would run it as a command
	}
	if arguments[t.value] && r.at(i+1).kind == ':' {
		return false // f(**{'shell': True})
	}
	if r.frames && frameMethods.MatchString(t.value) {
		return false
	}
	joined := !t.plain || r.at(i+1).kind == '+' || r.at(i-1).kind == '+' || r.at(i+1).kind == '/' || r.at(i-1).kind == '/' || r.at(i+1).kind == 't'
	switch {
	case placed.MatchString(t.value) && joined:
		return false
	case strings.Trim(t.value, "./") == "":
	case r.library && joined && strings.HasPrefix(t.value, "."):
		return false
	case (r.library || r.listed) && t.plain && (strings.HasPrefix(t.value, "http://") || strings.HasPrefix(t.value, "https://")):
		r.runs("curl", "--", t.value)
	case t.plain && (r.library || r.listed || placed.MatchString(t.value)) && fileName.MatchString(t.value):
		r.opens(t.value, false)
		if r.writing() {
			r.opens(t.value, true)
		}
	}
	return true
}

// writing reports whether the code contains a function that writes files, or a mode for writing.
func (r *reader) writing() bool {
	if r.writer == nil {
		has := slices.ContainsFunc(r.tokens, func(t token) bool {
			return t.kind == 'n' && writers.MatchString(t.value) || t.kind == 't' && modes.MatchString(t.value)
		})
		r.writer = &has
	}
	return *r.writer
}

// hiddenName matches names that give access to all other objects in Python and JavaScript.
var hiddenName = regexp.MustCompile(`^__\w+__$|^(constructor|prototype)$`)

// naming matches a string that may name a function.
var naming = regexp.MustCompile(`^:?[A-Za-z_][\w.\\:]*$`)

// constants finds the names that are set once to a literal and are otherwise only passed to
// functions that open files or print. opening are the names of these functions.
func (r *reader) constants(opening map[string]bool) {
	others := map[string]int{} // other uses of a name
	for i, t := range r.tokens {
		if t.kind == 'n' && !r.isHanded(i, opening) {
			others[t.value]++
		}
	}
	for i, t := range r.tokens {
		begins := r.at(i-1).kind == ends || r.is(i-1, "const")
		if t.kind == 'n' && begins && r.follow(i+1, "=t;") && r.at(i+2).plain && others[t.value] == 1 {
			r.fixed[t.value] = r.at(i + 2).value
		}
	}
}

// isHanded reports whether the name at i is passed to one of these functions, or is interpolated.
func (r *reader) isHanded(i int, opening map[string]bool) bool {
	if r.at(i-1).kind == field {
		return r.at(i+1).kind != '='
	}
	to := r.at(i - 2)
	if r.at(i-1).kind != '(' || to.kind != 'n' || !opening[to.value] || r.at(i+1).kind != ')' && r.at(i+1).kind != ',' {
		return false
	}
	defined := r.is(i-3, "def") || r.is(i-3, "function") || r.is(i-3, "set") || r.at(i-3).kind == '*' || to.value == "log" && !r.member(i-2)
	return !defined && r.at(r.closing(i-1)+1).kind != '{' // not a parameter in the definition of such a function
}
