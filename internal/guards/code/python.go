package code

import (
	"regexp"
	"slices"
	"strings"
)

var python = &language{
	syntax:  syntax{comments: []string{"#"}, quotes: `'"`, names: plainNames, texts: pythonTexts},
	refused: set("eval exec compile getattr setattr delattr globals locals vars breakpoint input help license credits copyright attrgetter methodcaller allow_pickle modules meta_path path_hooks builtins expanduser expandvars home mro getsourcefile __subclasses__"),
	allowed: set("load loads sort_keys partial pop put_nowait dropna drop_duplicates token_hex token_urlsafe token_bytes reset_index DictReader open_dataset"),
	forms: map[string]func(*reader, int) (int, bool){
		"import": (*reader).pythonImport, "from": (*reader).pythonFrom, "os": (*reader).pythonOS, "sys": (*reader).pythonSys, "subprocess": (*reader).pythonCalls, "urllib": (*reader).pythonFetch,
		"sqlite3": (*reader).pythonBase, "execute": (*reader).pythonQuery, "open": (*reader).pythonOpen, "Path": (*reader).pythonPath, "glob": (*reader).pythonGlob, "requests": (*reader).pythonGet, "httpx": (*reader).pythonGet,
		"asyncio": (*reader).pythonAsync, "load": (*reader).pythonLoad, "drop": (*reader).pythonDrop, "query": (*reader).pythonFrameText, "compile": (*reader).pythonCompile, "importlib": (*reader).pythonMetadata, "reset": (*reader).pythonDrop,
	},
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
			case c == '{' || c == '(' || c == '[':
				depth++
			case c == '}' || c == ')' || c == ']':
				depth--
			}
		}
		if end < 0 || strings.Contains(text[at:end], `\`) || l.depth > 4 {
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
		if r.refused[name] || r.forms[name] != nil && name != "load" && name != "query" && name != "reset" && name != "drop" && name != "execute" || strings.HasPrefix(name, "__") {
			return false // it would mean something else
		}
	}
	r.constants(set("open Path print urlopen read_csv read_json read_parquet read_excel get"))
	r.pythonGlobs()
	return true
}
