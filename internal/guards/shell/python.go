package shell

import (
	"regexp"
	"slices"
	"strings"
)

// pythonToken is a name, a text, a number or one other character of Python. Line ends and ; are
// the same.
type pythonToken struct {
	kind  byte // n, t, 0, or the character
	value string
	plain bool // a text has neither escapes nor fields, so that its value is known
}

var (
	pythonName   = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*`)
	pythonNumber = regexp.MustCompile(`^[0-9][0-9_]*(\.[0-9]+)?`)
	// pythonText is a text: of several lines, or of one; its content is the second group or a later one.
	pythonText   = regexp.MustCompile(`^(?s:"""((?:\\.|[^\\])*?)"""|'''((?:\\.|[^\\])*?)''')|^(?:"((?:\\(?s:.)|[^"\\\n])*)"|'((?:\\(?s:.)|[^'\\\n])*)')`)
	pythonPrefix = regexp.MustCompile(`^(?i:[rbuf]|rb|br|fr|rf)$`)
	// pythonField is a field of an f-string that computes with names and what they have, and how it
	// is printed.
	pythonField = regexp.MustCompile(`\{\{|\}\}|\{([\pL_](?:[\pL\d_.]|\(\)|\([\pL\d_.]+\)|\[[\pL\d_]+\]|\[(?:"[\w -]*"|'[\w -]*')\]| ?[-+*/] ?[\pL\d_])*)(:[\w.,<>^%+= -]*|![rsa])?\}`)
)

// pythonTokens reads code. ok is false where something is not read.
func pythonTokens(code string) (tokens []pythonToken, ok bool) {
	for code != "" {
		var t pythonToken
		size := 1
		switch m := pythonText.FindStringSubmatch(code); {
		case m != nil:
			size = len(m[0])
			t = pythonToken{'t', m[1] + m[2] + m[3] + m[4], true}
			t.plain = !strings.Contains(t.value, `\`)
			fields, ok := prefixed(&tokens, &t)
			if !ok {
				return nil, false
			}
			tokens = append(append(tokens, t), fields...)
			code = code[size:]
			continue
		case code[0] == '#':
			if end := strings.IndexByte(code, '\n'); end > 0 {
				code = code[end:]
				continue
			}
			return tokens, true
		case pythonName.MatchString(code):
			t = pythonToken{kind: 'n', value: pythonName.FindString(code)}
			size = len(t.value)
		case pythonNumber.MatchString(code):
			t = pythonToken{kind: '0', value: pythonNumber.FindString(code)}
			size = len(t.value)
		case code[0] == '\n' || code[0] == ';':
			t.kind = ';'
		case strings.IndexByte("'\"\\`$?!@", code[0]) >= 0 && !strings.HasPrefix(code, "!="), code[0] >= 0x80:
			return nil, false
		default:
			t.kind = code[0]
		}
		if code = code[size:]; t.kind != ' ' && t.kind != '\t' {
			tokens = append(tokens, t)
		} else if n := len(tokens); n > 0 && tokens[n-1].kind == 'n' && code != "" && strings.IndexByte("'\"", code[0]) >= 0 {
			tokens[n-1].plain = true // a blank parts the name from the text behind it
		}
	}
	return tokens, true
}

// prefixed takes the letters before a text off, and returns the names in the fields of one that
// has some.
func prefixed(tokens *[]pythonToken, t *pythonToken) (fields []pythonToken, ok bool) {
	n := len(*tokens)
	if n == 0 || (*tokens)[n-1].kind != 'n' || (*tokens)[n-1].plain {
		return nil, true
	}
	prefix := (*tokens)[n-1].value
	if !pythonPrefix.MatchString(prefix) {
		return nil, false
	}
	*tokens = (*tokens)[:n-1]
	t.plain = false
	if !strings.ContainsAny(prefix, "fF") {
		return nil, true
	}
	for _, m := range pythonField.FindAllStringSubmatch(t.value, -1) {
		if m[1] != "" {
			inner, ok := pythonTokens(m[1])
			if !ok {
				return nil, false
			}
			fields = append(append(fields, pythonToken{kind: '%'}), inner...)
		}
	}
	return fields, !strings.ContainsAny(pythonField.ReplaceAllString(t.value, ""), "{}")
}

// pythonWords are names that code may have beside codeWords: words of the language, arguments,
// and what files and paths can do that are named where they are opened.
var pythonWords = strings.Fields(`with as def return try except finally raise assert break continue del yield
	ValueError KeyError IndexError TypeError Exception FileNotFoundError SystemExit StopIteration isinstance hasattr bytes frozenset slice divmod pow bool iter next callable
	file end sep encoding mode newline key reverse default ensure_ascii flags count errors start initial exist_ok parents exit stdout stderr write writelines flush read readlines close seek tell
	read_text write_text read_bytes write_bytes exists is_file is_dir stat st_size touch suffix stem parts
	writer writerow writerows DictWriter writeheader fieldnames delimiter safe_load safe_dump
	compile escape span MULTILINE DOTALL IGNORECASE VERBOSE M S I subn lstrip rstrip find rfind partition rpartition splitext title capitalize isdigit isalpha isupper islower isspace zfill ljust rjust center remove pop insert extend update copy setdefault add discard clear
	parse walk dump FunctionDef AsyncFunctionDef ClassDef Import ImportFrom Call Name Attribute lineno body id attr func iter_child_nodes literal_eval
	fetchall fetchone cursor row_factory Row description
	capture_output text check timeout returncode universal_newlines
	timezone utc astimezone tzinfo ZoneInfo zoneinfo shape columns dtype head describe total_seconds timestamp fromisoformat`)

// pythonModules may be imported; what of pythonOthers is used has to be one of a few things.
var (
	pythonModules = append(strings.Fields("ast pathlib tomllib functools operator fractions decimal difflib pprint"), codeModules...)
	pythonOthers  = regexp.MustCompile(`^(` + codeOthers + `)$`)
	ofOthers      = []string{"__version__", "safe_load", "safe_dump"}
	pathWrites    = []string{"write_text", "write_bytes", "touch"}
)

// What pandas and numpy do, where they are imported under another name: opens files, returns a
// text unless it is told a file, computes; and words that with them open files, too.
var (
	frameReads  = strings.Fields("read_csv read_json read_parquet read_excel read_table read_feather")
	frameWrites = strings.Fields("to_csv to_json to_parquet to_excel")
	frameTexts  = strings.Fields("to_string to_markdown to_dict to_list tolist to_numpy")
	frameMore   = strings.Fields("load dump dumps tofile save savez savetxt fromfile loadtxt genfromtxt memmap query pipe agg aggregate apply transform")
	frameWords  = strings.Fields(`T shape size ndim dtypes columns index loc iloc values head tail info describe isna isnull notna notnull fillna dropna mean median mode std var quantile corr cov sum cumsum min max nunique unique value_counts
		sort_values sort_index groupby reset_index set_index drop drop_duplicates duplicated rename merge join concat astype round abs diff shift rolling resample str dt date year month day hour contains between isin
		nlargest nsmallest idxmax idxmin memory_usage select_dtypes sample DataFrame Series to_datetime to_numeric array arange linspace zeros ones reshape flatten argmax argmin argsort percentile where clip dot transpose any all allclose isnan histogram
		inf nan random seed default_rng normal uniform integers concatenate stack vstack hstack`)
	frameNames = strings.Fields("ascending axis by nrows usecols index_col parse_dates names skiprows low_memory inplace how on left_on right_on n frac random_state include exclude numeric_only normalize bins q level orient lines deep subset ddof")
	ofTensors  = strings.Fields("tensor randn rand randint zeros ones arange full eye linspace manual_seed float32 float16 bfloat16 int64 matmul stack cat")
	ofDevices  = strings.Fields("is_available device_count get_device_name current_device")
)

// python is code that is read.
type python struct {
	tokens []pythonToken
	known  map[string]bool // names that were imported or given a value
	fixed  map[string]string
	codeDoes
	others map[string]bool // modules of which the version and the file are asked for, and whether they were
	base   string          // the file of a database that is open
	own    map[string]bool // names of the project's own packages
	// globbed are names that stand for each file of a pattern.
	globbed map[string]string
	frames  bool // pandas or numpy are imported under another name, by which some words mean more
	writes  bool // a path may be written
}

// harmlessPython reports whether code only computes, prints, and opens files that are named
// where it does: each of its names is known to do no more, or is one that it gives a value.
// What it runs is returned with the files that it opens.
func harmlessPython(code string) (does codeDoes, ok bool) {
	if len(code) > maxCode {
		return does, false
	}
	tokens, ok := pythonTokens(code)
	if !ok {
		return does, false
	}
	p := python{tokens: tokens, known: map[string]bool{}, fixed: map[string]string{}, own: map[string]bool{}, others: map[string]bool{}, globbed: map[string]string{}}
	p.given()
	for name := range p.known {
		if powerful(name) {
			return does, false
		}
	}
	p.constants()
	p.globs()
	for i := 0; i < len(tokens); i++ {
		if tokens[i].kind != 'n' {
			continue
		}
		size, ok := p.name(i)
		if !ok {
			return does, false
		}
		i += size
	}
	for _, asked := range p.others {
		if !asked {
			return does, false
		}
	}
	return p.codeDoes, true
}

// at is a token, or none behind the end.
func (p *python) at(i int) pythonToken {
	if i < 0 || i >= len(p.tokens) {
		return pythonToken{kind: ';'}
	}
	return p.tokens[i]
}

func (p *python) is(i int, value string) bool { return p.at(i).kind == 'n' && p.at(i).value == value }

// given finds the names that the code gives a value: before =, and behind for, as, def and lambda.
func (p *python) given() {
	for i, t := range p.tokens {
		if t.kind != 'n' {
			continue
		}
		p.writes = p.writes || slices.Contains(pathWrites, t.value)
		switch t.value {
		case "for", "lambda", "def", "as":
			for j := i + 1; j < len(p.tokens) && !p.is(j, "in") && p.at(j).kind != ':' && p.at(j).kind != ';' && p.at(j).kind != '.'; j++ {
				if p.at(j).kind == 'n' {
					p.known[p.at(j).value] = true
				}
				if t.value == "as" {
					break
				}
			}
		default:
			next := p.at(i + 1).kind
			plus := strings.IndexByte("+-*|:", next) >= 0 && p.at(i+2).kind == '='
			if before := p.at(i - 1).kind; before != '.' && (plus || next == '=' && p.at(i+2).kind != '=' || next == ',' && (before == ';' || before == ',')) {
				p.known[t.value] = true
			}
		}
	}
}

// constants finds the names that are given one text, and then are only handed to what opens
// files or prints.
func (p *python) constants() {
	for i, t := range p.tokens {
		if t.kind != 'n' || p.at(i-1).kind != ';' || p.at(i+1).kind != '=' || p.at(i+2).kind != 't' || !p.at(i+2).plain || p.at(i+3).kind != ';' {
			continue
		}
		others := 0
		for j, other := range p.tokens {
			ends := p.at(j+1).kind == ')' || p.at(j+1).kind == ','
			handed := p.at(j-1).kind == '(' && ends && (p.is(j-2, "open") || p.is(j-2, "Path") || p.is(j-2, "print") || p.is(j-2, "urlopen")) && !p.is(j-3, "def") || p.at(j-1).kind == '%'
			if j != i && other.kind == 'n' && other.value == t.value && !handed {
				others++
			}
		}
		if others == 0 {
			p.fixed[t.value] = p.at(i + 2).value
		}
	}
}

// text is the text that stands at i, or that the name there is.
func (p *python) text(i int) (string, bool) {
	t := p.at(i)
	if t.kind == 'n' {
		value, ok := p.fixed[t.value]
		return value, ok && value != "" && !strings.Contains(value, ":")
	}
	joined := p.at(i+1).kind == 't' || p.at(i+1).kind == '%'
	return t.value, t.kind == 't' && t.plain && !joined && t.value != "" && !strings.Contains(t.value, ":")
}

// name looks at the name at i, and says how many more tokens it has looked at.
func (p *python) name(i int) (more int, ok bool) {
	name, member := p.at(i).value, p.at(i-1).kind == '.'
	switch {
	case name == "import" || name == "from":
		return p.imports(i)
	case name == "sys" && p.at(i+1).kind == '.' && p.is(i+2, "path"):
		return p.searches(i)
	case name == "allow_pickle":
		return 0, false
	case name == "os" && !member:
		return p.system(i)
	case (name == "subprocess" || name == "urllib") && !member:
		return p.calls(i)
	case name == "sqlite3" && !member || name == "execute" && member && p.base != "":
		return p.queries(i)
	case !member && p.hasOther(name):
		p.others[name] = true
		return 2, p.at(i+1).kind == '.' && slices.Contains([]string{"__version__", "__file__", "__path__"}, p.at(i+2).value)
	case name == "glob":
		return 2, !member && p.at(i+1).kind == '.' && p.is(i+2, "glob")
	case !member && p.own[name]:
		return p.member(i)
	case name == "open" && !member:
		return p.opens(i)
	case name == "Path":
		return p.path(i)
	case member && (slices.Contains(frameReads, name) || slices.Contains(frameWrites, name)):
		return p.frame(i)
	case member && p.frames && slices.Contains(frameWords, name):
		return 0, true
	case member && slices.Contains(frameTexts, name):
		return 0, p.frames && p.at(i+1).kind == '(' && p.at(i+2).kind == ')'
	case p.frames && member && name == "load" && !p.is(i-2, "json"):
		return p.frame(i)
	case p.frames && member && (name == "agg" || name == "aggregate"):
		return p.aggregates(i)
	case p.frames && member && slices.Contains(frameMore, name) && !p.is(i-2, "json"):
		return 0, false
	case name == "torch" && !member && p.at(i+1).kind == '.' && (p.is(i+2, "cuda") || p.is(i+2, "backends")) && p.at(i+3).kind == '.':
		if p.is(i+4, "mps") {
			return 6, p.at(i+5).kind == '.' && p.is(i+6, "is_available")
		}
		return 4, slices.Contains(ofDevices, p.at(i+4).value)
	case name == "torch" && !member && p.at(i+1).kind == '.' && slices.Contains(ofTensors, p.at(i+2).value):
		return 2, true
	case pythonOthers.MatchString(name):
		return 2, !member && p.at(i+1).kind == '.' && slices.Contains(ofOthers, p.at(i+2).value)
	case codeWords[name] || slices.Contains(pythonWords, name):
		return 0, true
	}
	if p.frames && p.at(i+1).kind == '=' && slices.Contains(frameNames, name) {
		return 0, true
	}
	return 0, !member && (p.known[name] || slices.Contains(pythonModules, name))
}

// imports: a whole module, or names out of one, which are looked at like any other.
func (p *python) imports(i int) (more int, ok bool) {
	if p.at(i-1).kind != ';' && p.at(i-1).kind != ':' {
		return 0, false
	}
	if more, ok := p.importsOwn(i); ok {
		return more, true
	}
	from := p.is(i, "from")
	j := i + 1
	for ; p.at(j).kind == 'n'; j += 2 {
		module := p.at(j).value
		if module == "urllib" && !from && p.at(j+1).kind == '.' && p.is(j+2, "request") {
			if j += 2; p.at(j+1).kind != ',' {
				return j - i, p.at(j+1).kind == ';'
			}
			continue
		}
		if ownModule(module) && !from {
			p.others[module] = false
			p.loads = append(p.loads, module)
		} else if !slices.Contains(pythonModules, module) && (from || module != "glob" && module != "os" && module != "subprocess" && module != "sqlite3") && (from || !pythonOthers.MatchString(module)) {
			return 0, false
		}
		if from {
			break
		}
		if p.is(j+1, "as") && (module == "pandas" || module == "numpy") && p.at(j+2).kind == 'n' {
			p.frames = true
			return j + 2 - i, p.at(j+3).kind == ';'
		}
		if p.at(j+1).kind != ',' {
			return j - i, p.at(j+1).kind == ';'
		}
	}
	if !from || !p.is(j+1, "import") {
		return 0, false
	}
	for j += 2; p.at(j).kind == 'n'; j += 2 {
		if name := p.at(j).value; name != "Path" && !codeWords[name] && !slices.Contains(pythonWords, name) {
			return 0, false
		}
		if p.at(j+1).kind != ',' {
			return j - i, p.at(j+1).kind == ';'
		}
	}
	return 0, false
}
