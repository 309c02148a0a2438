package shell

import (
	"regexp"
	"slices"
	"strings"
)

// readable are the languages of which the simplest code is read, with the options that it
// may follow, and those that may stand beside.
var readable = map[string]struct{ codes, flags []string }{
	"Python":     {[]string{"-c"}, []string{"-u", "-B", "-I", "-s", "-S", "-E"}},
	"JavaScript": {[]string{"-e", "-p", "--eval", "--print"}, []string{"--no-warnings"}},
	"Perl":       {[]string{"-e", "-pe", "-ne"}, []string{"-p", "-i", "-pi", "-i.bak", "-pi.bak", "-0", "-0777", "-l"}},
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

// maxCode bounds the code that is read, in bytes.
const maxCode = 4 << 10

var (
	codeTexts  = regexp.MustCompile(`'[^'\\` + "`" + `\n]*'|"[^"\\` + "`" + `\n]*"`)
	codeName   = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)
	codeImport = regexp.MustCompile(`(?m)(^|;)\s*import +(\w+(?: *, *\w+)*) *(;|$)`)
	// codeFrom takes names out of a module; what they are is looked at like any other.
	codeFrom = regexp.MustCompile(`(?m)(^|;)[ \t]*from +(\w+) +import +`)
	// codeVersion is what may be asked of any program that is installed.
	codeVersion = regexp.MustCompile(`\b(` + codeOthers + `)\.__version__|\bprocess\.(versions?|arch|platform)\b`)
	codeOther   = regexp.MustCompile(`^(` + codeOthers + `)$`)
	// codeFile is a file that tells nothing of a secret.
	codeFile = regexp.MustCompile(`\brequire\(['"](\.{1,2}/)+([\w-]+/)*(package|package-lock|tsconfig)\.json['"]\)` +
		`|\bopen\(['"]([\w-]+/)*[\w-]+\.(json|csv|tsv|txt|md|xml|html)['"](, *['"]rb?['"])?\)`)
	// codeSecret is in the names of files that may well tell one.
	codeSecret = regexp.MustCompile(`(?i)secret|cred|token|passw|key|auth|config|settings|account|hosts|state`)
	// perlReplaces is code of Perl that replaces text by text.
	perlReplaces = regexp.MustCompile(`^\s*(s/(\\.|[^/\\@{` + "`" + `])*/(\\.|[^/\\@{` + "`" + `])*/[gimsx]*\s*;?\s*)+$`)
	// codeIndex leads to each member of an object of JavaScript, by a text.
	codeIndex  = regexp.MustCompile(`[\w$\])"]\s*\[`)
	codePrefix = regexp.MustCompile(`[\w.]""`)
	// codeSet is a name that the code gives a value, or takes from a loop.
	codeSet = regexp.MustCompile(`(?m)(?:^|;)\s*(?:(?:const|let|var) +)?(\w+) *=[^=]|\bfor +(\w+)(?: *, *(\w+))? +in\b|\blambda +(\w+) *:|\b(\w+) *=>|\((\w+) *, *(\w+)\) *=>`)
)

// harmlessCode reports whether code only computes and prints: each of its names is known to
// do no more, is one that it gives a value, or a module that it imports and asks for its
// version. Texts hold no code, since nothing that runs one is known.
func harmlessCode(code, language string) bool {
	if language == "Perl" {
		return perlReplaces.MatchString(code)
	}
	code = codeFile.ReplaceAllStringFunc(code, func(file string) string {
		if strings.HasPrefix(file, "open") && codeSecret.MatchString(file) {
			return file
		}
		return "0"
	})
	if strings.ContainsAny(code, "`\\@#") || len(code) > maxCode {
		return false
	}
	code = codeTexts.ReplaceAllString(code, `""`)
	if strings.Contains(code, "'") || strings.Count(code, `"`) != 2*strings.Count(code, `""`) || codePrefix.MatchString(code) {
		return false // a text is open, or is an f-string or the like
	}
	known := map[string]bool{}
	for _, m := range codeFrom.FindAllStringSubmatch(code, -1) {
		if !slices.Contains(codeModules, m[2]) {
			return false
		}
	}
	code = codeFrom.ReplaceAllString(code, ";")
	for _, m := range codeImport.FindAllStringSubmatch(code, -1) {
		for name := range strings.SplitSeq(m[2], ",") {
			switch name = strings.TrimSpace(name); {
			case slices.Contains(codeModules, name):
				known[name] = true
			case !codeOther.MatchString(name):
				return false
			}
		}
	}
	code = codeVersion.ReplaceAllString(codeImport.ReplaceAllString(code, ";"), "0")
	if language != "Python" && codeIndex.MatchString(code) {
		return false
	}
	given := map[string]bool{}
	for _, m := range codeSet.FindAllStringSubmatch(code, -1) {
		for _, name := range m[1:] {
			if codeWords[name] || known[name] {
				return false // it would mean something else
			}
			given[name] = true
		}
	}
	return !slices.ContainsFunc(codeName.FindAllString(code, -1), func(name string) bool { return !codeWords[name] && !known[name] && !given[name] })
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

// harmless reports whether the code that stands in the arguments is read, and only computes
// and prints.
func (of interpreter) harmless(args []Word) bool {
	code, ok := of.codeOf(args)
	return ok && harmlessCode(code, of.name)
}
