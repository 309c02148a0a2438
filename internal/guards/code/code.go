package code

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxCode is the maximum length of the code that is analyzed, in bytes.
const MaxCode = 4 << 10

// Reach contains the effects of code beyond computing and printing.
type Reach struct {
	Files    []File   // files that it opens
	Commands [][]Word // commands that it runs, or equivalent ones
	Modules  []string // modules outside the language, without their file extensions
}

// File is a file that code opens.
type File struct {
	Name    string
	Write   bool
	Glob    bool   // Name is a pattern
	Pattern string // if set, the files are below the directory Name and match this pattern
}

// Word is a word of a command. If it is not Known, Text contains a variable.
type Word struct {
	Text  string
	Known bool
}

// Read returns the effects of code. It returns false if these cannot be determined, or if the
// language is not supported. A console, such as that of a web framework, has access to the
// project's data: its code may read the data, but not change it.
func Read(code, language string, console bool) (Reach, bool) {
	l, known := languages[language]
	if !known || len(code) > MaxCode || strings.ContainsFunc(code, hidden) || empties.MatchString(code) || l.unread != nil && l.unread.MatchString(code) {
		return Reach{}, false
	}
	tokens, ok := l.tokens(code)
	if !ok {
		return Reach{}, false
	}
	for _, t := range tokens { // Python normalizes some characters
		if t.kind == 'n' && strings.ContainsFunc(t.value, func(c rune) bool { return c >= utf8.RuneSelf }) {
			return Reach{}, false
		}
	}
	r := reader{language: l, console: console, tokens: tokens, fixed: map[string]string{}, given: map[string]bool{}, data: map[string]bool{}, alias: map[string]string{}, globs: map[string]string{}}
	if l.prepare != nil && !l.prepare(&r) {
		return Reach{}, false
	}
	for i := 0; i < len(tokens); i++ {
		more, ok := r.token(i)
		if !ok {
			return Reach{}, false
		}
		i += more
	}
	return r.reach, (!r.paths || r.joins <= 0) && (!r.setsEnv || len(r.reach.Commands) == 0)
}

// hidden reports whether a character is invisible, or ends a line in some programs only.
func hidden(c rune) bool {
	return c == '\u0085' || c == '\u2028' || c == '\u2029' || c == unicode.ReplacementChar || c < ' ' && c != '\n' && c != '\t' || c == 0x7f
}

// empties matches code that empties a file.
var empties = regexp.MustCompile(`(write_text|write|writeFileSync)\(([^,()]*,)?\s*(''|"")\s*[,)]|\.truncate\(|\bopen\([^()]*,\s*(mode=)?['"]wb?['"]\)\.close\(\)|^\s*open\([^()]*,\s*(mode=)?['"]wb?['"]\)(\.close\(\))?[\s;]*$`)
