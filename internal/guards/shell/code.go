package shell

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/code"
)

// readable are the options whose code is analyzed, by language, and the options that may accompany
// them: flags, and options with a value.
var readable = map[string]struct{ codes, flags, valued []string }{
	"Python":     {[]string{"-c"}, []string{"-u", "-B", "-I", "-s", "-S", "-E", "-O", "-q"}, []string{"-X", "-W"}},
	"JavaScript": {[]string{"-e", "-p", "-pe", "--eval", "--print"}, []string{"--no-warnings", "--input-type=module", "--input-type=commonjs", "--experimental-strip-types"}, nil},
	"TypeScript": {[]string{"-e", "-p", "--eval", "--print"}, []string{"--no-warnings", "-T", "--transpile-only", "--transpileOnly", "--esm"}, nil},
	"Ruby":       {[]string{"-e", "-ne", "-pe"}, []string{"-n", "-p", "-i", "-i.bak", "-pi", "-w", "-W0", "-rjson", "-ryaml", "-rset", "-rdate", "-rtime", "-rcsv", "-rbigdecimal", "-rsecurerandom", "-rdigest", "-rbenchmark", "-rpp", "-Ilib", "-I.", "-Itest", "-Ispec"}, nil},
	"R":          {[]string{"-e"}, []string{"-q", "-s", "--vanilla", "--no-save", "--quiet", "--slave"}, nil},
	"Julia":      {[]string{"-e"}, []string{"--project", "--project=."}, nil},
	"Elixir":     {[]string{"-e"}, nil, nil},
	"PHP":        {[]string{"-r"}, nil, nil},
	"Perl":       {[]string{"-e", "-pe", "-ne", "-0pe", "-0777pe", "-0777ne"}, []string{"-p", "-n", "-i", "-pi", "-0pi", "-0777pi", "-i.bak", "-pi.bak", "-0", "-0777", "-l"}, nil},
}

// readCode is [code.Read], extended with text replacements in Perl.
func readCode(text, language string, console bool) (reach code.Reach, ok bool) {
	if language == "Perl" {
		return reach, replacesPerl(text)
	}
	return code.Read(text, language, console)
}

// codeOf returns the code that an interpreter is given. ok is false unless the arguments consist of
// one code option and options that are known not to matter.
func (of interpreter) codeOf(args []Word) (text string, ok bool) {
	known := readable[of.name]
	for a := range interpreterOptions[of].In(args) {
		switch given := of.takesCode(a); {
		case given && !ok && slices.Contains(known.codes, a.Text) && a.Value.plain():
			text, ok = a.Value.Text, true
		case ok && of.name == "Python":
			return text, true // the remaining arguments are passed to the code
		case ok && of.name == "Perl" && strings.ContainsAny(a.Text, "|<>"):
			return "", false // perl opens it as a pipe from or to a command
		case !ok && slices.Contains(known.valued, a.Text) && a.Value.plain():
		case given, a.Name != "" && (ok || !slices.Contains(known.flags, a.Text)), !ok && a.Name == "":
			return "", false
		}
	}
	return text, ok
}

// reaches adds the files, modules and commands that code uses to the command that runs it. It
// returns false if the files cannot be listed.
func (s source) reaches(c *Command, reach code.Reach) bool {
	c.Redirects = slices.Clip(c.Redirects)
	for _, f := range reach.Files {
		names := []Word{{Text: f.Name, Known: true, Glob: f.Glob}}
		if f.Pattern != "" {
			names = listed(Command{Words: []Word{{Text: "find", Known: true}, {Text: f.Name, Known: true}, {Text: "-name", Known: true}, {Text: f.Pattern, Known: true}}})
			if len(names) == 0 {
				return false
			}
		}
		for _, name := range names {
			c.Redirects = append(c.Redirects, Redirect{File: name, Write: f.Write})
		}
	}
	for _, module := range reach.Modules {
		for _, end := range moduleEnds {
			s.runsMade(c, Word{Text: module + end, Known: true})
		}
	}
	for _, command := range reach.Commands {
		var words []Word
		for _, w := range command {
			words = append(words, Word{Text: w.Text, Known: w.Known})
		}
		s.run(words, context{})
	}
	return true
}
