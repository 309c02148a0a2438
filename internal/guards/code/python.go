package code

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/wordset"
)

var python = &language{
	syntax:  syntax{comments: []string{"#"}, quotes: `'"`, names: plainNames, texts: pythonTexts},
	unread:  regexp.MustCompile(`#.*coding[:=]`),
	refused: wordset.Of("eval exec compile getattr setattr delattr globals locals vars breakpoint input help license credits copyright attrgetter methodcaller allow_pickle modules meta_path path_hooks builtins expanduser expandvars home mro getsourcefile get_field vformat getmembers getmembers_static getattr_static get_type_hints get_annotations eval_str ForwardRef currentframe stack walk_stack walk_tb exc_info FileIO FileType open_code sourcehook linecache PosixPath WindowsPath chdir truediv Loader FullLoader load_all load_extension blobopen ctypeslib load_library sax handlers FileHandler resolve_name EntryPoint locate_file getmodule getclosurevars getargvalues Bytecode codeobj FunctionType CodeType bltns singledispatch singledispatchmethod update_wrapper itruediv fromfile_prefix_chars style opener serialization hub package mock GzipFile"),
	allowed: wordset.Of("load loads sort_keys partial pop put_nowait dropna drop_duplicates token_hex token_urlsafe token_bytes reset_index DictReader open_dataset"),
	forms: map[string]func(*reader, int) (int, bool){
		"import": (*reader).pythonImport, "from": (*reader).pythonFrom, "os": (*reader).pythonOS, "shutil": (*reader).pythonShutil, "sys": (*reader).pythonSys, "subprocess": (*reader).pythonCalls, "urllib": (*reader).pythonFetch,
		"sqlite3": (*reader).pythonBase, "execute": (*reader).pythonQuery, "open": (*reader).pythonOpen, "Path": (*reader).pythonPath, "glob": (*reader).pythonGlob, "requests": (*reader).pythonGet, "httpx": (*reader).pythonGet,
		"ZipFile": (*reader).pythonZip, "Stats": (*reader).pythonStats, "write": (*reader).pythonWrite, "load": (*reader).pythonLoad, "drop": (*reader).pythonDrop, "query": (*reader).pythonFrameText, "sql": (*reader).pythonDuck, "compile": (*reader).pythonCompile, "type": (*reader).pythonType, "replace": (*reader).pythonReplace, "format": (*reader).pythonFormatted, "format_map": (*reader).pythonFormatted, "importlib": (*reader).pythonMetadata, "reset": (*reader).pythonDrop,
	},
	check:   (*reader).checkPython,
	prepare: (*reader).preparePython,
}

var (
	// pythonText matches a string literal of one or several lines. One of the groups is its
	// content.
	pythonText   = regexp.MustCompile(`^(?s:"""((?:\\.|[^\\])*?)"""|'''((?:\\.|[^\\])*?)''')|^(?:"((?:\\(?s:.)|[^"\\\n])*)"|'((?:\\(?s:.)|[^'\\\n])*)')`)
	pythonPrefix = regexp.MustCompile(`^(?i:[rbuf]|rb|br|fr|rf)$`)
	// pythonFormat matches the format of a field in an f-string. It must not contain fields.
	pythonFormat = regexp.MustCompile(`(=?(![rsa])?(:[\w.,<>^%+= -]*)?)$`)
	// frameMethods match names by which pandas calls methods with effects beyond the program.
	frameMethods = regexp.MustCompile(`^(to_\w+|eval|query|pipe|read_\w+)$|@|__`)
)

// pythonTexts lexes a string literal of Python, with its prefix.
func pythonTexts(l *lexer) bool {
	m := pythonText.FindStringSubmatch(l.code[l.pos:])
	if m == nil {
		return false
	}
	l.pos += len(m[0])
	t := token{kind: 't', value: m[1] + m[2] + m[3] + m[4]}
	t.plain = !strings.Contains(t.value, `\`)
	prefix := l.last()
	if prefix.kind != 'n' || prefix.plain {
		l.all = append(l.all, t)
		return true
	}
	if !pythonPrefix.MatchString(prefix.value) {
		return false
	}
	l.all = l.all[:len(l.all)-1]
	t.plain = t.plain && strings.EqualFold(prefix.value, "b")
	l.all = append(l.all, t)
	return !strings.ContainsAny(prefix.value, "fF") || l.pythonFields(t.value)
}

// pythonFields lexes the fields of an f-string.
func (l *lexer) pythonFields(text string) bool {
	for {
		at := strings.IndexAny(text, "{}")
		switch {
		case at < 0:
			return true
		case strings.HasPrefix(text[at:], "{{"), strings.HasPrefix(text[at:], "}}"):
			text = text[at+2:]
			continue
		case text[at] == '}':
			return false
		}
		depth, end := 0, -1
		for j := at + 1; j < len(text) && end < 0; j++ {
			switch c := text[j]; {
			case c == '}' && depth == 0:
				end = j
			case c == '\'' || c == '"':
				length := strings.IndexByte(text[j+1:], c)
				if length < 0 || strings.ContainsAny(text[j+1:j+1+length], "{}") {
					return false
				}
				j += length + 1
			case c == '{' || c == '(' || c == '[':
				depth++
			case c == '}' || c == ')' || c == ']':
				depth--
			}
		}
		if end < 0 || strings.ContainsAny(text[at:end], `\#`) || l.depth > 4 {
			return false
		}
		inner := lexer{syntax: l.syntax, code: pythonFormat.ReplaceAllString(text[at+1:end], ""), depth: l.depth}
		if !inner.run(false) {
			return false
		}
		l.all = append(append(l.all, token{kind: field}), inner.all...)
		text = text[end+1:]
	}
}

// preparePython finds the names that the code defines: before =, and after for, as, def, class and
// lambda.
func (r *reader) preparePython() bool {
	importing := false
	for i, t := range r.tokens {
		r.paths = r.paths || r.is(i, "Path") || r.is(i, "pathlib")
		if importing = importing && t.kind != ends || (r.is(i, "import") || r.is(i, "from")) && r.begins(i); importing {
			continue
		}
		if t.kind == '/' && r.at(i-1).kind != '0' && r.at(i+1).kind != '0' {
			r.joins++
		}
		if t.kind != 'n' {
			continue
		}
		r.writes = r.writes || slices.Contains([]string{"write_text", "write_bytes", "touch"}, t.value)
		switch t.value {
		case "for", "lambda", "def", "as", "class":
			for j := i + 1; j < len(r.tokens) && !r.is(j, "in") && strings.IndexByte(":;.", r.at(j).kind) < 0; j++ {
				if r.at(j).kind == 'n' {
					r.given[r.at(j).value] = true
				}
				if t.value == "as" {
					break
				}
			}
		default:
			next := r.at(i + 1).kind
			assigned := strings.IndexByte("+-*|:", next) >= 0 && r.at(i+2).kind == '=' || next == '=' && r.at(i+2).kind != '='
			if before := r.at(i - 1).kind; before != '.' && (assigned || next == ',' && (before == ends || before == ',')) {
				r.given[t.value] = true
			}
		}
	}
	for i := range r.tokens { // names under which modules are imported
		if r.is(i, "as") && r.at(i+1).kind == 'n' {
			r.given[r.at(i+1).value] = true
		}
	}
	if r.given["print"] || r.given["type"] || r.given["super"] {
		return false
	}
	for name := range r.given {
		if r.refused[name] || r.forms[name] != nil && name != "load" && name != "query" && name != "sql" && name != "reset" && name != "drop" && name != "execute" && name != "replace" && name != "format" && name != "write" && name != "Stats" && name != "ZipFile" || strings.HasPrefix(name, "__") {
			return false // the name would have another meaning
		}
	}
	if slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == 'n' && t.value == "case" }) {
		return true // a match pattern may assign to names, so there are no constants
	}
	r.constants(wordset.Of("open Path print urlopen read_csv read_json read_parquet read_excel get"))
	r.pythonGlobs()
	return true
}

var (
	// pythonFrames match attributes that lead from a running function to all other objects.
	pythonFrames = regexp.MustCompile(`^(gi|cr|ag|tb|f|co)_[a-z]+$`)
	// ownMembers begin with an underscore, but are not private.
	ownMembers = wordset.Of("_ _asdict _fields _replace _make _meta _count")
	// unsafeModules execute code in files that they load. They must be used under their own names.
	unsafeModules = wordset.Of("torch tensorflow keras whisper")
	// arguments are names of parameters that extend what a function does, when passed in a
	// dictionary.
	arguments = wordset.Of("eval_str allow_pickle shell opener fromfile_prefix_chars style")
	// memberOfText matches a format field that reads a member of a value.
	memberOfText = regexp.MustCompile(`\{\w*[.\[]`)
)

// checkPython reports whether the name at i gives no access to other names.
func (r *reader) checkPython(i int) bool {
	name := r.at(i).value
	if !r.member(i) {
		if r.asked[name] {
			return r.at(i+1).kind == '.' && shown[r.at(i+2).value]
		}
		module := r.alias[name]
		if standard[module] != nil || unsafeModules[module] || unsafeModules[name] {
			return r.at(i+1).kind == '.' || r.at(i+1).kind == '=' && r.at(i+2).kind != '='
		}
		return true
	}
	if strings.HasPrefix(name, "__") && r.at(i+1).kind == '=' && r.at(i+2).kind != '=' {
		return false
	}
	if r.ofStandard(i) {
		return r.offered(i)
	}
	switch {
	case r.paths && leading[name]:
		return false
	case name == "__class__":
		return r.at(i+1).kind == '.' && r.is(i+2, "__name__")
	case name == "__init__":
		return r.at(i+1).kind != '(' || r.at(i-2).kind == ')' && r.at(i-3).kind == '(' && r.is(i-4, "super")
	case strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__"):
		return ownMembers[name]
	case r.alias[r.root(i)] == "importlib":
		return metadata[name]
	case name == "system":
		return false
	}
	return !pythonFrames.MatchString(name)
}

// ofStandard reports whether the name at i is a member of a module in [standard].
func (r *reader) ofStandard(i int) bool {
	return r.at(i-1).kind == '.' && r.at(i-2).kind == 'n' && !r.member(i-2) && standard[r.alias[r.at(i-2).value]] != nil
}

// offered reports whether it is a harmless member of the module.
func (r *reader) offered(i int) bool {
	return r.ofStandard(i) && offers(r.alias[r.at(i-2).value], r.at(i).value)
}

// pythonType parses type(x) if it is printed, compared or asked for its name. Calling its result
// would create a class.
func (r *reader) pythonType(i int) (more int, ok bool) {
	if r.member(i) || r.at(i+1).kind != '(' {
		return 0, r.member(i)
	}
	end := r.closing(i + 1)
	switch next := r.at(end + 1); {
	case next.kind == '.':
		return 0, r.is(end+2, "__name__") || r.is(end+2, "__qualname__") || r.is(end+2, "__module__")
	case r.is(end+1, "is"), r.is(end+1, "in"), r.is(end+1, "not"), next.kind == '=' && r.at(end+2).kind == '=', next.kind == '!':
		return 0, true
	}
	return 0, r.at(i-1).kind == field || telling[r.caller(i)]
}

// telling are functions that only print or compare their argument.
var telling = wordset.Of("print repr str isinstance issubclass id")

// pythonZip parses ZipFile('name').
func (r *reader) pythonZip(i int) (more int, ok bool) {
	name, ok := r.text(i + 2)
	mode := r.at(i + 4)
	r.zips = true
	r.opens(name, r.at(i+3).kind == ',' && !(mode.kind == 't' && mode.value == "r"))
	return 2, ok && r.at(i+1).kind == '('
}

func (r *reader) pythonStats(i int) (more int, ok bool) {
	name, ok := r.text(i + 2)
	r.opens(name, false)
	return 2, ok && r.follow(i+1, "(t)")
}

// pythonWrite parses write, whose argument may be the name of an XML output file or of a file to
// archive.
func (r *reader) pythonWrite(i int) (more int, ok bool) {
	if name, plain := r.text(i + 2); plain && r.alias["xml"] != "" && r.member(i) {
		r.opens(name, true)
	} else if plain && r.zips {
		r.opens(name, false)
	}
	return 0, true
}

// pythonReplace parses replace. With one argument it may be the method of a path that moves a file.
func (r *reader) pythonReplace(i int) (more int, ok bool) {
	return 0, !r.paths || !r.member(i) || r.argument(i+1, 1) >= 0
}

// pythonFormatted parses 'text'.format(x), in which a field must not read members of x.
func (r *reader) pythonFormatted(i int) (more int, ok bool) {
	text := r.at(i - 2)
	return 0, !r.member(i) || text.kind == 't' && r.at(i-3).kind != '+' && r.at(i-3).kind != 't' && !memberOfText.MatchString(text.value) && !codedText.MatchString(text.value)
}

// codedText matches an escape sequence that encodes a character.
var codedText = regexp.MustCompile(`\\[xuUN0-7]`)
