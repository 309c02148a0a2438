package shell

import (
	"regexp"
	"strings"
)

var (
	// codeOwn is a module that is named, or names of it.
	codeOwn = regexp.MustCompile(`(?:^|;)\s*(?:const|var|let)\s*(\w+|\{[\w\s,]+\})\s*=\s*require\("(\d+)"\)\s*(?:;|\n)`)
	// codeImport is the same in a module, and codeParsed a name of what JSON holds.
	codeImport  = regexp.MustCompile(`(?:^|\n)[ \t]*import[ \t]+(\w+|\{[\w\s,]+\})[ \t]+from[ \t]+("\d+")[ \t]*(?:;|\n|$)`)
	codeParsed  = regexp.MustCompile(`(?:^|;|\n)\s*(?:const|let|var) +(\w+) *= *JSON\.parse\(`)
	codeProject = regexp.MustCompile(`^\.{1,2}(/[\w.-]+)*/?$`)
)

// ownModules are the files of the project that code of JavaScript loads as modules, and the code
// with a value in the place of each name of theirs: what they do is done by node on the file, too.
func ownModules(code string, text func(number string) string) (rest string, files []Redirect) {
	modules, data := []string{}, []string{}
	code = dataMembers(code, text)
	for _, m := range codeParsed.FindAllStringSubmatch(code, -1) {
		if data = append(data, m[1]); codeWords[m[1]] || powerful(m[1]) || len(data) > maxMarks {
			return code, nil
		}
	}
	rest = codeOwn.ReplaceAllStringFunc(code, func(found string) string {
		m := codeOwn.FindStringSubmatch(found)
		file := text(m[2])
		computes := codeComputes.MatchString(file)
		if !computes && !codeProject.MatchString(file) {
			return found
		}
		var b strings.Builder
		for name := range strings.FieldsFuncSeq(m[1], func(r rune) bool { return strings.ContainsRune("{}, \t\n", r) }) {
			switch {
			case computes:
			case codeData.MatchString(file):
				data, modules = append(data, name), append(modules, name)
			default:
				modules = append(modules, name)
			}
			if !codeWords[name] && !jsWords[name] {
				b.WriteString(";const " + name + "=0;")
			}
		}
		if !computes {
			files = append(files, Redirect{File: Word{Text: file, Known: true}})
		}
		return b.String()
	})
	for _, name := range data {
		rest = withoutMembers(rest, regexp.MustCompile(`\b`+name+`\b`))
	}
	for _, name := range modules {
		if powerful(name) || codeWords[name] && (name == "console" || name[0] < 'a') || len(modules) > maxMarks {
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

// codeRequired is what a module has, where it is asked for at once.
var codeRequired = regexp.MustCompile(`\brequire\("(\d+)"\)`)

// dataMembers is code without the members of the JSON files that it asks for: they are no code.
func dataMembers(code string, text func(number string) string) string {
	return withoutMembers(code, codeRequired, func(found string) bool {
		return codeData.MatchString(text(codeRequired.FindStringSubmatch(found)[1]))
	})
}

var codeMember = regexp.MustCompile(`^\??\.(\w+)\s*(\(?)`)

// withoutMembers is code without the members of values that hold data alone, but for what is
// called: x.a.b.map(f) is x.map(f).
func withoutMembers(code string, values *regexp.Regexp, is ...func(string) bool) string {
	var b strings.Builder
	done := 0
	for _, at := range values.FindAllStringIndex(code, -1) {
		if at[0] < done || len(is) > 0 && !is[0](code[at[0]:at[1]]) {
			continue
		}
		b.WriteString(code[done:at[1]])
		done = at[1]
		for {
			m := codeMember.FindStringSubmatch(code[done:])
			if len(m) == 0 || m[2] != "" || powerful(m[1]) {
				break
			}
			done += len(m[0])
		}
	}
	return b.String() + code[done:]
}
