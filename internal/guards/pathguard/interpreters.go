package pathguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/paths"
	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// interpreters are programs whose own language can name files, in arguments or in their input.
var interpreters = strings.Fields("sqlite3 duckdb jq yq xmllint ed red ex awk gawk mawk nawk make gmake gcc g++ cc c++ clang clang++ cpp as pandoc asciidoctor plantuml" +
	" tex latex pdftex pdflatex xelatex lualatex latexmk wget gnuplot psql mysql mariadb")

// pathInText matches a possible path in a text, delimited by blanks, quotes or brackets.
var pathInText = regexp.MustCompile("[^\\s'\"`<>(){}\\[\\],;|&=]+")

// mentions finds the files that are named in the code of a program, which may read them.
func (s *collector) mentions(c shell.Command) {
	if !slices.Contains(interpreters, c.Name()) {
		return
	}
	words := slices.Clone(c.Args())
	for _, r := range c.Redirects {
		words = append(words, r.Here)
		if r.Here.Text != "" && (c.Name() == "ed" || c.Name() == "red" || c.Name() == "ex") {
			s.scripted(r.Here.Text) // its r and w are like those of sed
		}
	}
	for _, w := range words {
		if !strings.ContainsAny(w.Text, "'\"`(){}<>= \n") {
			continue // a file name rather than code
		}
		for _, at := range pathInText.FindAllStringIndex(w.Text, -1) {
			text := w.Text[at[0]:at[1]]
			quoted := at[0] > 0 && strings.ContainsAny(w.Text[at[0]-1:at[0]], "'\"")
			if !strings.Contains(text, "/") && text[0] != '~' && !(quoted && text[0] == '.') && !paths.IsURL(text) {
				continue
			}
			a := access{reads: true, glob: strings.Contains(text, "*")}
			s.all = append(s.all, s.found(text, a)...)
			if c.Name() == "jq" && quoted { // import "x" reads x.json
				s.all = append(s.all, s.found(text+".json", a)...)
			}
			if at := strings.LastIndex(text, ":/"); at > 0 && !strings.HasPrefix(text[at:], "://") { // include::/x
				s.all = append(s.all, s.found(text[at+1:], a)...)
			}
		}
	}
}

// outputVariable matches variables that name a file to which programs write.
var outputVariable = regexp.MustCompile(`TRACE|LOG|OUTPUT|HISTFILE|HISTORY`)

// variables finds the files in variables that are set for a program.
func (s *collector) variables(c shell.Command) {
	set := slices.Clone(c.Assigns)
	if slices.Contains([]string{"export", "declare", "typeset", "env"}, c.Name()) {
		for _, w := range c.Args() {
			name, value, _ := strings.Cut(w.Text, "=")
			set = append(set, shell.Assign{Name: name, Value: shell.Word{Text: strings.Trim(value, `'"`), Known: w.Known}})
		}
	}
	for _, a := range set {
		if file := a.Value.Text; a.Value.Known && file != "" && strings.ContainsAny(file[:1], "/~") && outputVariable.MatchString(a.Name) {
			s.all = append(s.all, s.found(file, access{writes: true})...)
		}
	}
}

var (
	// curlOutput matches the file to which curl writes transfer information.
	curlOutput = regexp.MustCompile(`%output\{(>>)?([^}]*)\}`)
	// curlForms matches the brackets that curl expands.
	curlForms = regexp.MustCompile(`[\[\]{}]`)
	scheme    = regexp.MustCompile(`^(?i)[a-z]*[\[{]`)
)

// addresses finds the files that curl accesses by its own syntax.
func (s *collector) addresses(c shell.Command) {
	if c.Name() != "curl" {
		return
	}
	for _, w := range c.Args() {
		for _, m := range curlOutput.FindAllStringSubmatch(w.Text, -1) {
			s.all = append(s.all, s.found(m[2], access{writes: true})...)
		}
		switch before, _, found := strings.Cut(w.Text, "://"); {
		case found && scheme.MatchString(before):
			s.unclear = append(s.unclear, "what is fetched from "+clip(w.Text)+" can't be known")
		case paths.IsURL(w.Text) && curlForms.MatchString(w.Text):
			s.all = append(s.all, s.found(w.Text, access{reads: true, glob: true})...)
		}
	}
}

// lists are options that name a file with a list of files to copy.
var lists = map[string]output{
	"tar": {tarFlags + "cru", []string{"-T", "--files-from"}}, "bsdtar": {tarFlags + "cru", []string{"-T", "--files-from"}}, "rsync": {"", []string{"--files-from"}},
}

// listed records that the files in a list are unknown, if the list is outside the project.
func (s *collector) listed(c shell.Command) {
	args := c.Args()
	for i, w := range args {
		list, next := lists[c.Name()].of(w.Text)
		if next && i+1 < len(args) {
			list = args[i+1].Text
		}
		if option, _, _ := strings.Cut(w.Text, "="); option == "--file" { // an archive
			continue
		}
		if elsewhere.MatchString(list) {
			s.unclear = append(s.unclear, "which files "+clip(list)+" lists can't be known")
		}
	}
}
