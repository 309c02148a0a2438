package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxReadFiles is the maximum number of files of a line that are read as code. Each may run others.
const maxReadFiles = 8

// shebang matches the interpreter line of a script. It allows only the options -e, -u and -x.
var shebang = regexp.MustCompile(`^#!\s*(?:/usr)?/bin/(?:env\s+)?([\w.]+)(?: -[eux]+)?\s*(?:\n|$)`)

// keeping are commands that write files only by redirections.
var keeping = strings.Fields("cat chmod echo printf ls mkdir cd pwd set test [ true head tail wc sleep export bash sh timeout time env nice nohup command stdbuf grep rg")

// write remembers the content that a command writes to a file if the line contains it: cat > file
// <<'E'. Any command that may write to files afterwards makes it unknown again.
func (f *files) write(c Command, read *feed) {
	if !slices.Contains(keeping, c.Name()) {
		clear(f.texts)
	}
	var to []Word
	for _, r := range c.Redirects {
		if r.Write {
			to = append(to, r.File)
			delete(f.texts, path.Base(r.File.Text))
		}
	}
	text, known := printedText([]Command{c})
	if c.Name() == "cat" && len(c.Args()) == 0 && read != nil && read.known && read.file == "" {
		text, known = read.text, true
	}
	if known && len(to) == 1 && to[0].plain() && len(f.made(to[0].Text)) == 0 {
		f.texts[path.Base(to[0].Text)] = text
	}
}

// text returns the content of a file that the line writes once.
func (f *files) text(file Word) (string, bool) {
	text, ok := f.texts[path.Base(file.Text)]
	by := f.made(file.Text)
	return text, ok && file.plain() && len(by) == 1 && slices.Contains([]string{"cat", "echo", "printf"}, by[0])
}

// reads analyzes a file written by the line that a command runs, as code in a language. If language
// is empty, the shebang decides. It returns false if the file cannot be analyzed.
func (s source) reads(c *Command, file Word, language string) bool {
	text, ok := s.files.text(file)
	if !ok || s.files.reading >= maxReadFiles {
		return false
	}
	s.files.reading++
	s.files.run(file.Text)
	if language == "" {
		m := shebang.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		language = versioned.ReplaceAllString(m[1], "")
		if known, is := interpreters[language]; is {
			language = known.name
		}
	}
	if shells[language] {
		s.line(strings.TrimPrefix(text, "\ufeff"), s.depth+1, context{})
		return true
	}
	if language == "JavaScript" { // in other languages it is a comment
		text = shebang.ReplaceAllString(text, "")
	}
	return s.readsCode(c, text, language, false)
}
