package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// makers are commands that write a file whose name or URL is among their arguments.
var makers = []string{
	"curl", "wget", "fetch", "aria2c", "http", "https", "xh", "lwp-download", "tee", "sponge", "dd", "scp", "sftp", "ftp", "aws", "gsutil", "gcloud", "rclone",
}

// compilers build programs from source files.
var compilers = []string{"go", "gcc", "g++", "cc", "c++", "clang", "clang++", "rustc"}

// movers rename, copy or link files.
var movers = []string{"mv", "cp", "install", "ln", "rsync"}

// unpackers and archivers create files of unknown names: unpackers from a file, archivers also from
// standard input.
var (
	unpackers = []string{"unzip", "7z", "7za", "unar", "gunzip", "gzip", "bunzip2", "bzip2", "unxz", "xz", "unzstd", "zstd"}
	archivers = []string{"tar", "bsdtar", "gtar", "cpio"}
	unpacks   = regexp.MustCompile(`^(-?[A-Za-z]*[xi][A-Za-z]*|--extract|--get)$`)
)

// maxBy is the maximum number of commands that are remembered for a file.
const maxBy = 16

// files are the files that a line creates.
type files struct {
	// by are the names of the commands that write a file, by the file's base name: the command that
	// runs it may be in another directory, and the file may have been moved. A redirection without
	// a command is the command "".
	by       map[string][]string
	unpacked bool              // an archive was unpacked, so names are unknown
	texts    map[string]string // of the files that the line writes in full, by name
	reading  int               // number of texts that were analyzed
	ran      map[string]int    // number of writers of each file when it was first run
	fetched  []string          // directories that are filled from elsewhere
	scripts  bool              // scripts were run that a wildcard matches
	built    []string          // programs compiled from files that the line does not create
}

func newFiles() files {
	return files{by: map[string][]string{}, texts: map[string]string{}, ran: map[string]int{}}
}

// note records the files that a command creates.
func (f *files) note(c Command, read *feed) {
	f.noteFetched(c)
	name := c.Name()
	by := []string{name}
	if read != nil {
		by = append(by, read.from...)
	}
	for _, r := range c.Redirects {
		if r.Write {
			f.make(r.File.Text, by)
		}
	}
	switch {
	case slices.Contains(compilers, name):
		if at := slices.IndexFunc(c.Words, func(w Word) bool { return w.Text == "-o" }); at > 0 && at+1 < len(c.Words) && c.Words[at+1].plain() && read == nil && len(f.by) == 0 && !f.unpacked {
			f.built = append(f.built, c.Words[at+1].Text)
		}
	case slices.Contains(makers, name):
		printed := name == "curl" && Option(c, "-O") == No && Option(c, "--remote-name*") == No
		for _, w := range c.Args() {
			if printed && strings.Contains(w.Text, "://") {
				continue
			}
			f.make(w.Text, by)
			if value := valueOf(w.Text); value != "" {
				f.make(value, by)
			}
		}
	case slices.Contains(movers, name):
		by = f.among(c.Args())
		f.built = nil
		for _, w := range c.Args() {
			f.make(w.Text, by)
		}
	case slices.Contains(unpackers, name):
		if len(f.among(c.Args())) > 0 {
			f.unpack(c.Args())
		}
	case slices.Contains(archivers, name) && slices.ContainsFunc(c.Args(), func(w Word) bool { return unpacks.MatchString(w.Text) }):
		fetched := slices.ContainsFunc(by, func(from string) bool { return slices.Contains(makers, from) })
		if fetched || len(f.among(c.Args())) > 0 {
			f.unpack(c.Args())
		}
	}
}

// valueOf returns the value that is joined to an option: --output=x, -ox, of=x.
func valueOf(text string) string {
	if name, value, found := strings.Cut(text, "="); found && (name == "of" || strings.HasPrefix(name, "--")) {
		return value
	}
	if at := strings.IndexAny(text, "oO"); at > 0 && text[0] == '-' && text[1] != '-' {
		return text[at+1:]
	}
	return ""
}

func (f *files) make(file string, by []string) {
	name := path.Base(file)
	if name == "." || name == ".." || name == "/" {
		return
	}
	for _, b := range by {
		if all := f.by[name]; len(all) < maxBy && !slices.Contains(all, b) {
			f.by[name] = append(all, b)
		}
	}
}

// made returns the names of the commands so far that write a file.
func (f *files) made(file string) []string { return f.by[path.Base(file)] }

// among returns the names of the commands so far that write any of some files.
func (f *files) among(words []Word) (by []string) {
	for _, w := range words {
		for _, b := range f.made(w.Text) {
			if len(by) < maxBy && !slices.Contains(by, b) {
				by = append(by, b)
			}
		}
	}
	return by
}

// checking are options that make an interpreter check a file without running it.
var checking = map[string]string{"ruby": "-c", "php": "-l", "node": "--check", "nodejs": "--check"}

// runsFile checks a file that a command runs.
func (s source) runsFile(c *Command, file Word) {
	if args := c.Args(); len(args) > 1 && args[0].Text == checking[c.Name()] && !slices.ContainsFunc(args[1:], func(w Word) bool { return strings.HasPrefix(w.Text, "-") }) {
		return // it is only checked
	}
	if file.Known && len(s.files.by) == 0 && !s.files.unpacked && c.Name() == "node" && Option(*c, "--test") == Yes {
		return // the project's own tests
	}
	if language, is := interpreters[versioned.ReplaceAllString(c.Name(), "")]; shells[c.Name()] && s.reads(c, file, c.Name()) || is && s.reads(c, file, language.name) {
		return
	}
	if s.anyScript(file) {
		s.parser.files.scripts = true
		return
	}
	if !file.plain() {
		c.Runs = append(c.Runs, file.Runs...)
		c.doubt(c.Name() + " runs a file that is known only then: " + clip(file.Text))
		return
	}
	s.runsMade(c, file)
}

// anyScript reports whether a word is a pattern for scripts of the project, and the line creates no
// files. Each of these scripts could be run by its name, too.
func (s source) anyScript(w Word) bool {
	return w.Known && w.Glob && !w.Many && !w.Deep && len(s.files.by) == 0 && !s.files.unpacked && scriptPattern.MatchString(w.Text)
}

// scriptPattern matches a pattern for files of one directory with the extension of a script.
var (
	scriptPattern = regexp.MustCompile(`^(\./)?\w[\w-]*(/\w[\w-]*)*/[\w*-]*` + scriptEnd.String())
	scriptEnd     = regexp.MustCompile(`\.(sh|bash|py|js|mjs|cjs|ts|rb|php|pl|go)$`)
)

// run records that a file is run.
func (f *files) run(file string) {
	name := path.Base(file)
	if _, before := f.ran[name]; !before && len(f.ran) < maxRan {
		f.ran[name] = len(f.by[name])
	}
}

// maxRan is the maximum number of files that are remembered.
const maxRan = 256

// runsMade raises a doubt if the line itself creates a file that a command runs.
func (s source) runsMade(c *Command, file Word) {
	s.files.run(file.Text)
	if by := s.files.made(file.Text); len(by) > 0 {
		c.Runs = append(c.Runs, by...)
		c.doubt("it runs a file that the same line makes: " + clip(file.Text))
	}
}

// runsUnpacked raises a doubt if a file that a command runs may be from an archive that the line
// unpacks.
func (s source) runsUnpacked(c *Command, file Word) {
	if s.files.unpacked {
		c.doubt("it runs what may be in an archive that the same line brings: " + clip(file.Text))
	}
}
