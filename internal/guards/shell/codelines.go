package shell

import (
	"regexp"
	"strings"
)

// lineCode is what is read of a language in which agents write no more than a line.
type lineCode struct {
	words map[string]bool
	opens *regexp.Regexp // reads a file that is named there
}

func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

var lineCodes = map[string]lineCode{
	"Ruby": {wordsOf(`puts p print require json yaml time date set JSON YAML Time Date Math Set parse safe_load pretty_generate now today at to_s to_i to_f to_a to_h to_json iso8601 strftime year sqrt PI
		sum size length count first last join sort sort_by uniq reverse max min inspect keys values key dig upcase downcase capitalize strip split lines chars each map select reject include nil true false
		RUBY_VERSION RUBY_PLATFORM`), regexp.MustCompile(`\b(?:File\.read|YAML\.load_file)\((["'][\w./-]+["'])\)`)},
	"PHP": {wordsOf(`echo print print_r var_dump var_export json_encode json_decode JSON_PRETTY_PRINT strlen count implode explode array_keys array_values array_sum range date time
		strtoupper strtolower ucfirst trim str_repeat number_format round floor ceil max min sqrt intdiv phpversion md5 sha1 hash base64_encode uniqid random_int true false null
		PHP_VERSION PHP_OS PHP_EOL PHP_INT_MAX`), regexp.MustCompile(`\bfile_get_contents\((["'][\w./-]+["'])\)`)},
}

// lineText is a text without escapes, fields and variables.
var lineText = regexp.MustCompile(`"[^"\\#$` + "`" + `]*"|'[^'\\]*'`)

// lineCalls is a text, or what code returns, that is called.
var lineCalls = regexp.MustCompile(`[0-9)\]]\s*\(|&\s*[0-9(]`)

var (
	// lineSet is a name that the code gives a value, and lineRuns what a name does all the same.
	lineSet  = regexp.MustCompile(`(?m)(?:^|;)\s*([a-z]\w*)\s*=[^=~]`)
	lineRuns = regexp.MustCompile(`system|exec|spawn|fork|open|eval|load|require|send|syscall|instance|binding|method|exit|abort|test|trap|const|define|public|private|alias|undef|class|module|self`)
)

// harmlessLine is harmlessCode of such a line: each of its names is known, and nothing
// runs a text.
func harmlessLine(code, language string) (files []Redirect, ok bool) {
	known := lineCodes[language]
	if len(code) > maxCode {
		return nil, false
	}
	code = known.opens.ReplaceAllStringFunc(code, func(found string) string {
		name := known.opens.FindStringSubmatch(found)[1]
		files = append(files, Redirect{File: Word{Text: name[1 : len(name)-1], Known: true}})
		return "0"
	})
	code = lineText.ReplaceAllString(code, "0")
	if lineCalls.MatchString(code) || strings.ContainsAny(code, "\"'`%$@\\#~") || strings.Contains(code, "::") {
		return nil, false
	}
	given := map[string]bool{}
	for _, m := range lineSet.FindAllStringSubmatch(code, -1) {
		given[m[1]] = !lineRuns.MatchString(m[1])
	}
	for _, name := range codeName.FindAllString(code, -1) {
		if !known.words[name] && !(given[name] && language == "Ruby") {
			return nil, false
		}
	}
	return files, true
}
