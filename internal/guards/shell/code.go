package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// readable are the languages of which the simplest code is read, with the options that it
// may follow, and those that may stand beside.
var readable = map[string]struct{ codes, flags []string }{
	"Python":     {[]string{"-c"}, []string{"-u", "-B", "-I", "-s", "-S", "-E"}},
	"JavaScript": {[]string{"-e", "-p", "--eval", "--print"}, []string{"--no-warnings", "--input-type=module", "--input-type=commonjs"}},
	"Ruby":       {[]string{"-e"}, []string{"-rjson", "-ryaml", "-rset", "-rdate", "-rtime"}},
	"R":          {[]string{"-e"}, []string{"-q", "-s", "--vanilla", "--no-save", "--quiet", "--slave"}},
	"Julia":      {[]string{"-e"}, []string{"--project", "--project=."}},
	"Elixir":     {[]string{"-e"}, nil},
	"PHP":        {[]string{"-r"}, nil},
	"Perl":       {[]string{"-e", "-pe", "-ne", "-0pe", "-0777pe", "-0777ne"}, []string{"-p", "-n", "-i", "-pi", "-0pi", "-0777pi", "-i.bak", "-pi.bak", "-0", "-0777", "-l"}},
}

// words that code may have which computes and prints. Whatever a name that is not among
// them does, nobody asks: it is not read.
var codeWords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`print json sys math re datetime time random statistics platform string itertools collections textwrap base64 hashlib uuid csv reader DictReader defaultdict OrderedDict namedtuple findall finditer sub search match group groups fullmatch
		load loads dump dumps indent sort_keys stdin readline version version_info python_version executable argv
		len sum sorted reversed range min max abs round int float str bool list dict set tuple type repr enumerate zip map filter any all ord chr hex bin
		for in if else elif while not and or is lambda True False None pass
		keys values items get append split rsplit splitlines strip join replace lower upper startswith endswith count index sort
		sqrt pi ceil floor now today utcnow isoformat strftime date timedelta days sleep hexdigest md5 sha256 encode decode b64decode b64encode uuid4 Counter most_common
		__name__
		console log error JSON parse stringify Math Object entries fromEntries Array from isArray length push slice concat reduce forEach some every find includes
		Date toISOString Number String parseInt parseFloat toFixed toString trim
		const let var true false null undefined of typeof node name scripts dependencies devDependencies main`) {
		all[word] = true
	}
	return all
}()

// codeModules may be imported.
var codeModules = strings.Fields("json sys math re datetime time random statistics platform string itertools collections textwrap base64 hashlib uuid csv")

// codeOthers may be imported and asked for their version.
const codeOthers = `numpy|pandas|torch|tensorflow|django|flask|fastapi|requests|httpx|pydantic|sqlalchemy|pytest|yaml|scipy|sklearn|transformers`

// predefined are names that mean something unless the code gives them a value, and it may seem
// to: in a loop without rounds, as an argument.
var predefined = strings.Fields(`aiter anext ascii breakpoint bytearray classmethod complex delattr dir eval exec getattr globals hash help input issubclass locals memoryview object open property
	setattr staticmethod super vars license credits copyright quit Path
	Function require process globalThis global module exports import fetch setTimeout setInterval setImmediate queueMicrotask structuredClone Reflect Proxy WebAssembly Worker constructor prototype Symbol Promise RegExp Buffer`)

func powerful(name string) bool {
	return strings.HasPrefix(name, "__") || slices.Contains(predefined, name) || strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 })
}

// maxCode bounds the code that is read, in bytes.
const maxCode = 4 << 10

var (
	codeTexts = regexp.MustCompile(`'(\\.|[^'\\` + "`" + `\n])*'|"(\\.|[^"\\` + "`" + `\n])*"`)
	codeName  = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)
	// codeNamed is what may be done with what is named by a text, of which the number stands there:
	// to be loaded, to be asked for its version, or to be opened by the module fs.
	codeNamed = regexp.MustCompile(`\brequire\("(\d+)"\)(?:\.(version\b|(?:readFileSync|existsSync|writeFileSync)\("(\d+)"))?|\bfs\.(readFileSync|existsSync|writeFileSync)\("(\d+)"`)
	// codeEmpties is code that leaves nothing in a file.
	codeEmpties = regexp.MustCompile(`(write_text|write|writeFileSync)\(([^,()]*,)?\s*(''|"")\s*[,)]|\.truncate\(|\bopen\([^()]*,\s*(mode=)?['"]wb?['"]\)\.close\(\)|^\s*open\([^()]*,\s*(mode=)?['"]wb?['"]\)(\.close\(\))?[\s;]*$`)
	codeVersion = regexp.MustCompile(`\bprocess\.(versions?|arch|platform)\b|\bprocess\.exit\(\d*\)`)
	codeFS      = regexp.MustCompile(`(?:^|;)\s*(?:const|var|let) fs *= *require\("(\d+)"\) *(;|\n)`)
	codePackage = regexp.MustCompile(`^[a-z@][\w@-]*(/[\w-][\w.-]*)*$`)
	codeData    = regexp.MustCompile(`^\.[\w./-]*\.json$`)
	codePath    = regexp.MustCompile(`^[\w./@ -]+$`)
	codeModule  = regexp.MustCompile(`^(node:)?fs$`)
	// codeCalls is code of other languages that runs the project's tests, or prints a version.
	codeCalls = map[string]*regexp.Regexp{
		"R":      regexp.MustCompile(`^\s*((library\(\w+\)\s*;\s*)?(print\()?packageVersion\(["']\w+["']\)\)?|(testthat::test_(dir|file|local)|devtools::(test|check|document|load_all))\((["'][\w./-]+["'])?\)|sessionInfo\(\)|R\.version\.string)\s*;?\s*$`),
		"Julia":  regexp.MustCompile(`^\s*(using|import) Pkg\s*;\s*Pkg\.(test|instantiate|status|precompile)\(["'\w\s,;=\[\]-]*\)\s*;?\s*$`),
		"Elixir": regexp.MustCompile(`^\s*IO\.(puts|inspect)\(?\s*System\.(version|otp_release)(\(\))?\s*\)?\s*$`),
	}
	// codeIndex leads to each member of an object of JavaScript, by a text.
	codeIndex  = regexp.MustCompile(`[\w$\])"]\s*\[`)
	codePrefix = regexp.MustCompile(`[\w.]"\d`)
	// codeSet is a name that the code gives a value, or takes from a loop.
	codeSet = regexp.MustCompile(`(?m)(?:^|;)\s*(?:(?:const|let|var) +)?(\w+) *=[^=]|\bfor +(\w+)(?: *, *(\w+))? +in\b|\blambda +(\w+) *:|\b(\w+) *=>|\((\w+) *, *(\w+)\) *=>|\bfor *\((?:const|let|var) +(\w+) +of\b`)
)

// codeDoes is what code does that is judged as if a line did it.
type codeDoes struct {
	files []Redirect // that it opens
	runs  [][]Word   // the commands that it runs
	loads []string   // the modules of Python that nobody knows
}

// harmlessCode reports whether code only computes, prints, and opens files that are named where
// it does: each of its names is known to do no more, or is one that it gives a value. Texts hold
// no code, since nothing that runs one is known.
func harmlessCode(code, language string) (does codeDoes, ok bool) {
	if codeEmpties.MatchString(code) {
		return does, false
	}
	switch language {
	case "Python":
		return harmlessPython(code)
	case "Perl":
		return does, replacesPerl(code)
	case "Ruby", "PHP":
		does.files, ok = harmlessLine(code, language)
	case "R", "Julia", "Elixir":
		return does, codeCalls[language].MatchString(code)
	default:
		return harmlessScript(code)
	}
	return does, ok
}

// harmlessScript is harmlessCode of JavaScript.
func harmlessScript(code string) (does codeDoes, ok bool) {
	if len(code) > maxCode {
		return does, false
	}
	code, ok = withoutTemplates(code)
	if !ok {
		return does, false
	}
	code, pairs := withoutPairs(code)
	var texts []string
	code = codeTexts.ReplaceAllStringFunc(code, func(text string) string {
		texts = append(texts, text[1:len(text)-1])
		return `"` + strconv.Itoa(len(texts)-1) + `"`
	})
	slash := strings.IndexByte(code, '/') // of a pattern, in which a quote begins no text
	if strings.Contains(code, "'") || strings.Count(code, `"`) != 2*len(texts) || slash >= 0 && strings.Contains(code[slash:], `"`) {
		return does, false
	}
	code = codeFetch.ReplaceAllStringFunc(code, func(found string) string {
		if i, err := strconv.Atoi(codeFetch.FindStringSubmatch(found)[1]); err == nil && i < len(texts) {
			does.runs = append(does.runs, []Word{{Text: "curl", Known: true}, {Text: "--", Known: true}, {Text: texts[i], Known: true}})
			return "0"
		}
		return found
	})
	code, does.files = opened(constantNames(code), texts)
	code = codeNth.ReplaceAllString(code, "$1")
	if strings.ContainsAny(code, "`\\@#") || codePrefix.MatchString(code) || codeIndex.MatchString(code) {
		return does, false
	}
	given := map[string]bool{}
	for _, name := range pairs {
		if powerful(name) || codeWords[name] && !slices.Contains(dataWords, name) {
			return does, false
		}
		given[name] = true
	}
	for _, m := range codeSet.FindAllStringSubmatch(code, -1) {
		for _, name := range m[1:] {
			if codeWords[name] && !slices.Contains(dataWords, name) || powerful(name) {
				return does, false // it would mean something else
			}
			given[name] = true
		}
	}
	for _, at := range codeName.FindAllStringIndex(code, -1) {
		name, member := code[at[0]:at[1]], strings.HasSuffix(strings.TrimSpace(code[:at[0]]), ".")
		if codeWords[name] || jsWords[name] || member && ofGiven(code, at, given) {
			continue
		}
		if member || !given[name] {
			return does, false
		}
	}
	return does, true
}

// dataWords are names of codeWords that stand for no more than what they are given.
var dataWords = strings.Fields("name scripts dependencies devDependencies main version")

var (
	// codeHanded is a module of the project that is handed on: Object.keys(require("./dist")).
	codeHanded = regexp.MustCompile(`([(,]\s*)require\("(\d+)"\)(\s*[),])`)
	// codeFetch gets what stands at an address, and codePairs names the two elements of each list.
	codeFetch = regexp.MustCompile(`(?:^|[^.\w$])fetch\("(\d+)"\)`)
	codePairs = regexp.MustCompile(`\((?:(const|let) )?\[(\w+), *(\w+)\](\) *=>| of\b)`)
)

// withoutPairs is code of JavaScript that names the elements without brackets.
func withoutPairs(code string) (rest string, names []string) {
	rest = codePairs.ReplaceAllStringFunc(code, func(found string) string {
		m := codePairs.FindStringSubmatch(found)
		names = append(names, m[2], m[3])
		if m[1] == "" {
			return "(" + m[2] + ", " + m[3] + m[4]
		}
		return "(const " + m[2] + m[4]
	})
	return rest, names
}

var (
	codeConstant = regexp.MustCompile(`(?:^|[;\n])\s*const (\w+) *= *("\d+") *(?:;|\n)`)
	codeOpens    = regexp.MustCompile(`\b(readFileSync|existsSync|writeFileSync)\((\w+)\b`)
)

// constantNames is code of JavaScript with the text in the place of a constant by which a file is
// opened. A name that may be that of an argument, too, stays.
func constantNames(code string) string {
	texts := map[string]string{}
	for _, m := range codeConstant.FindAllStringSubmatch(code, maxMarks) {
		argument := regexp.MustCompile(`\b` + m[1] + `\b[\w\s,=]*(\)\s*)?(=>|\{)|\b(let|var|of|in|function|catch)\b\W*` + m[1] + `\b|[{\[,]\s*` + m[1] + `\s*[}\],:]`)
		if declared := regexp.MustCompile(`\b` + m[1] + `\s*=[^=]`); len(declared.FindAllString(code, 2)) == 1 && !argument.MatchString(code) {
			texts[m[1]] = m[2]
		}
	}
	return codeOpens.ReplaceAllStringFunc(code, func(found string) string {
		m := codeOpens.FindStringSubmatch(found)
		if text, ok := texts[m[2]]; ok {
			return m[1] + "(" + text
		}
		return found
	})
}

// opened are the files that code of JavaScript opens by their names, and the code without that.
func opened(code string, texts []string) (rest string, files []Redirect) {
	text := func(number string) string {
		i, err := strconv.Atoi(number)
		if err != nil || i >= len(texts) {
			return ""
		}
		return texts[i]
	}
	code = codeImport.ReplaceAllString(code, "\n;const $1 = require($2);\n")
	code = codeFS.ReplaceAllStringFunc(code, func(found string) string {
		if !codeModule.MatchString(text(codeFS.FindStringSubmatch(found)[1])) {
			return found
		}
		return ";"
	})
	code, files = ownModules(code, text)
	code = codeHanded.ReplaceAllStringFunc(code, func(found string) string {
		m := codeHanded.FindStringSubmatch(found)
		if file := text(m[2]); codeProject.MatchString(file) {
			files = append(files, Redirect{File: Word{Text: file, Known: true}})
			return m[1] + "0" + m[3]
		}
		return found
	})
	rest = codeNamed.ReplaceAllStringFunc(code, func(found string) string {
		m := codeNamed.FindStringSubmatch(found)
		module, does, file := text(m[1]), m[2]+m[4], text(m[3]+m[5])
		switch {
		case m[1] != "" && does == "version" && codePackage.MatchString(module):
			return "0"
		case m[1] != "" && (does == "" || does == "version") && codeData.MatchString(module):
			files = append(files, Redirect{File: Word{Text: module, Known: true}})
			return "0"
		case m[3]+m[5] != "" && (m[1] == "" || codeModule.MatchString(module)) && codePath.MatchString(file):
			files = append(files, Redirect{File: Word{Text: file, Known: true}, Write: strings.HasPrefix(does, "write")})
			return "log(0"
		}
		return found
	})
	return codeVersion.ReplaceAllString(rest, "0"), files
}

// codeOf is the code that an interpreter is given, where that is all it is given: one text
// behind one option, and beside it only options that are known.
func (of interpreter) codeOf(args []Word) (code string, ok bool) {
	known := readable[of.name]
	for i := 0; i < len(args); i++ {
		switch given, _ := of.option(args[i].Text); {
		case given && !ok && slices.Contains(known.codes, args[i].Text) && i+1 < len(args) && args[i+1].plain():
			i++
			code, ok = args[i].Text, true
		case ok && of.name == "Python":
			return code, true // the rest is the code's
		case given, strings.HasPrefix(args[i].Text, "-") && (ok || !slices.Contains(known.flags, args[i].Text)), !ok && !strings.HasPrefix(args[i].Text, "-"):
			return "", false
		}
	}
	return code, ok
}

// harmless is [harmlessCode] of the code that stands in the arguments.
func (of interpreter) harmless(args []Word) (does codeDoes, ok bool) {
	code, ok := of.codeOf(args)
	if !ok {
		return does, false
	}
	return harmlessCode(code, of.name)
}
