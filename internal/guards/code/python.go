package code

import (
	"regexp"
	"slices"
	"strings"
)

var python = &language{
	syntax:  syntax{comments: []string{"#"}, quotes: `'"`, names: plainNames, texts: pythonTexts},
	unread:  regexp.MustCompile(`#.*coding[:=]`),
	refused: set("eval exec compile getattr setattr delattr globals locals vars breakpoint input help license credits copyright attrgetter methodcaller allow_pickle modules meta_path path_hooks builtins expanduser expandvars home mro getsourcefile get_field vformat getmembers getmembers_static getattr_static get_type_hints get_annotations eval_str ForwardRef currentframe stack walk_stack walk_tb exc_info FileIO FileType open_code sourcehook linecache PosixPath WindowsPath chdir truediv Loader FullLoader load_all load_extension blobopen ctypeslib load_library sax handlers FileHandler resolve_name EntryPoint locate_file read_text_resource mock GzipFile"),
	allowed: set("load loads sort_keys partial pop put_nowait dropna drop_duplicates token_hex token_urlsafe token_bytes reset_index DictReader open_dataset"),
	forms: map[string]func(*reader, int) (int, bool){
		"import": (*reader).pythonImport, "from": (*reader).pythonFrom, "os": (*reader).pythonOS, "sys": (*reader).pythonSys, "subprocess": (*reader).pythonCalls, "urllib": (*reader).pythonFetch,
		"sqlite3": (*reader).pythonBase, "execute": (*reader).pythonQuery, "open": (*reader).pythonOpen, "Path": (*reader).pythonPath, "glob": (*reader).pythonGlob, "requests": (*reader).pythonGet, "httpx": (*reader).pythonGet,
		"asyncio": (*reader).pythonAsync, "load": (*reader).pythonLoad, "drop": (*reader).pythonDrop, "query": (*reader).pythonFrameText, "compile": (*reader).pythonCompile, "type": (*reader).pythonType, "replace": (*reader).pythonReplace, "format": (*reader).pythonFormatted, "format_map": (*reader).pythonFormatted, "importlib": (*reader).pythonMetadata, "reset": (*reader).pythonDrop,
	},
	check:   (*reader).checkPython,
	prepare: (*reader).preparePython,
}

var (
	// pythonText is a text: of several lines, or of one; its content is the second group or a later one.
	pythonText   = regexp.MustCompile(`^(?s:"""((?:\\.|[^\\])*?)"""|'''((?:\\.|[^\\])*?)''')|^(?:"((?:\\(?s:.)|[^"\\\n])*)"|'((?:\\(?s:.)|[^'\\\n])*)')`)
	pythonPrefix = regexp.MustCompile(`^(?i:[rbuf]|rb|br|fr|rf)$`)
	// pythonFormat is how a field of a text is printed: what stands there may be fields of its own.
	pythonFormat = regexp.MustCompile(`(=?(![rsa])?(:[\w.,<>^%+= -]*)?)$`)
	// frameMethods are names by which pandas calls methods that reach further.
	frameMethods = regexp.MustCompile(`^(to_\w+|eval|query|pipe|read_\w+)$|@|__`)
)

// pythonTexts reads a text of Python, with the letters before it.
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

// pythonFields reads the fields of a text.
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

// preparePython finds the names that the code gives a value: before =, and behind for, as, def and
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
	for i := range r.tokens { // the names under which modules are imported
		if r.is(i, "as") && r.at(i+1).kind == 'n' {
			r.given[r.at(i+1).value] = true
		}
	}
	for name := range r.given {
		if r.refused[name] || r.forms[name] != nil && name != "load" && name != "query" && name != "reset" && name != "drop" && name != "execute" && name != "replace" && name != "format" && name != "type" || strings.HasPrefix(name, "__") {
			return false // it would mean something else
		}
	}
	if slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == 'n' && t.value == "case" }) {
		return true // a pattern may give names values
	}
	r.constants(set("open Path print urlopen read_csv read_json read_parquet read_excel get"))
	r.pythonGlobs()
	return true
}

var (
	// pythonFrames leads from a function that runs to all that Python has.
	pythonFrames = regexp.MustCompile(`^(gi|cr|ag|tb|f|co)_[a-z]+$`)
	// ownMembers begin with a line, and are not hidden.
	ownMembers = set("_ _asdict _fields _replace _make _meta _count")
	// unsafeModules run what is in a file that they load: they are called by their own names alone.
	unsafeModules = set("yaml torch tensorflow keras whisper")
	// memberOfText is a field of a text that format fills with what a value has.
	memberOfText = regexp.MustCompile(`\{\w*[.\[]`)
)

// checkPython looks at the name at i for a way to other names.
func (r *reader) checkPython(i int) bool {
	name := r.at(i).value
	switch {
	case !r.member(i):
		module := unsafeModules[r.alias[name]] || unsafeModules[name]
		return !module || r.at(i+1).kind == '.' || r.at(i+1).kind == '=' || r.at(i-1).kind == ','
	case name == "__class__":
		return r.at(i+1).kind == '.' && r.is(i+2, "__name__")
	case strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__"):
		return ownMembers[name]
	case r.alias[r.root(i)] == "importlib":
		return metadata[name]
	}
	return !pythonFrames.MatchString(name)
}

// pythonType is type(x): what it returns makes another one, if it is called.
func (r *reader) pythonType(i int) (more int, ok bool) {
	depth := 0
	for j := i + 1; j < len(r.tokens); j++ {
		switch r.at(j).kind {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return 0, r.at(j+1).kind != '(' && (r.at(j+1).kind != '.' || strings.HasPrefix(r.at(j+2).value, "__name__"))
			}
		}
		if depth == 0 {
			return 0, r.at(i-1).kind != '=' && r.at(i+1).kind != ends // not a name for it
		}
	}
	return 0, false
}

// pythonReplace: with one argument it is a path that takes another one's place.
func (r *reader) pythonReplace(i int) (more int, ok bool) {
	depth := 0
	for j := i + 1; r.paths && r.member(i) && j < len(r.tokens); j++ {
		switch r.at(j).kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return 0, false
			}
		case ',':
			if depth == 1 {
				return 0, true
			}
		}
	}
	return 0, !r.paths || !r.member(i)
}

// pythonFormatted is 'text'.format(x): a field may lead to all that x has.
func (r *reader) pythonFormatted(i int) (more int, ok bool) {
	return 0, !r.member(i) || !slices.ContainsFunc(r.tokens, func(t token) bool { return t.kind == 't' && t.plain && memberOfText.MatchString(t.value) })
}
