package code

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxCode bounds the code that is read, in bytes.
const MaxCode = 4 << 10

// Reach is what code does beyond computing and printing.
type Reach struct {
	Files    []File   // that it opens
	Commands [][]Word // that it runs, or that do the same
	Modules  []string // that are no part of the language, without the ends of their files' names
}

// File is one that code opens.
type File struct {
	Name    string
	Write   bool
	Glob    bool   // Name is a pattern
	Pattern string // it stands below the directory Name, and its name has this pattern
}

// Word is one of a command. Where it is not Known, Text has a variable in its place.
type Word struct {
	Text  string
	Known bool
}

// Read says what code reaches. It is false where that can't be told, and for languages that are
// not read. A console, such as that of a web framework, has the project's data open: code for one
// may ask for it, but not change it.
func Read(code, language string, console bool) (Reach, bool) {
	l, known := languages[language]
	if !known || len(code) > MaxCode || strings.ContainsFunc(code, hidden) || empties.MatchString(code) || l.unread != nil && l.unread.MatchString(code) {
		return Reach{}, false
	}
	tokens, ok := l.tokens(code)
	if !ok {
		return Reach{}, false
	}
	for _, t := range tokens { // Python takes some letters for others
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

// hidden are characters that end a line for some programs only, or that no one sees.
func hidden(c rune) bool {
	return c == '\u0085' || c == '\u2028' || c == '\u2029' || c == unicode.ReplacementChar || c < ' ' && c != '\n' && c != '\t' || c == 0x7f
}

// empties is code that leaves nothing in a file.
var empties = regexp.MustCompile(`(write_text|write|writeFileSync)\(([^,()]*,)?\s*(''|"")\s*[,)]|\.truncate\(|\bopen\([^()]*,\s*(mode=)?['"]wb?['"]\)\.close\(\)|^\s*open\([^()]*,\s*(mode=)?['"]wb?['"]\)(\.close\(\))?[\s;]*$`)
