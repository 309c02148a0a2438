package shell

import (
	"regexp"
	"strings"
)

var (
	// codeOwn is a module that is named, or names of it.
	codeOwn     = regexp.MustCompile(`(?:^|;)\s*(?:const|var|let)\s*(\w+|\{[\w\s,]+\})\s*=\s*require\("(\d+)"\)\s*(?:;|\n)`)
	codeProject = regexp.MustCompile(`^\.{1,2}(/[\w.-]+)*/?$`)
)

// ownModules are the files of the project that code of JavaScript loads as modules, and the code
// with a value in the place of each name of theirs: what they do is done by node on the file, too.
func ownModules(code string, text func(number string) string) (rest string, files []Redirect) {
	modules := []string{}
	rest = codeOwn.ReplaceAllStringFunc(code, func(found string) string {
		m := codeOwn.FindStringSubmatch(found)
		file := text(m[2])
		if !codeProject.MatchString(file) || codeData.MatchString(file) {
			return found
		}
		var b strings.Builder
		for name := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return strings.ContainsRune("{}, \t\n", r) }) {
			modules = append(modules, name)
			b.WriteString(";const " + name + "=0;")
		}
		files = append(files, Redirect{File: Word{Text: file, Known: true}})
		return b.String()
	})
	for _, name := range modules {
		if codeWords[name] || powerful(name) || len(modules) > maxMarks {
			return code, nil
		}
		member := regexp.MustCompile(`\b` + name + `\.(\w+)`)
		rest = member.ReplaceAllStringFunc(rest, func(found string) string {
			if of := found[strings.IndexByte(found, '.')+1:]; powerful(of) {
				return found
			}
			return name
		})
	}
	return rest, files
}
