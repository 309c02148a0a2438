package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// makers are commands that write a file which they are given the name or address of.
var makers = []string{
	"curl", "wget", "fetch", "aria2c", "http", "https", "xh", "lwp-download", "tee", "sponge", "dd", "scp", "sftp", "ftp", "aws", "gsutil", "gcloud", "rclone",
}

// compilers make programs of files.
var compilers = []string{"go", "gcc", "g++", "cc", "c++", "clang", "clang++", "rustc"}

// movers give files other names, or make others of them.
var movers = []string{"mv", "cp", "install", "ln", "rsync"}

// unpackers and archivers make files of unknown names: of a file, and archivers
// also of what they read.
var (
	unpackers = []string{"unzip", "7z", "7za", "unar", "gunzip", "gzip", "bunzip2", "bzip2", "unxz", "xz", "unzstd", "zstd"}
	archivers = []string{"tar", "bsdtar", "gtar", "cpio"}
	unpacks   = regexp.MustCompile(`^(-?[A-Za-z]*[xi][A-Za-z]*|--extract|--get)$`)
)

// maxBy bounds the commands that are remembered for a file.
const maxBy = 16

// files are those that a line makes.
type files struct {
	// by are the names of the commands that write a file, by the file's name without its
	// directory: what runs it may be in another directory, and so may the file by then.
	// A redirection that stands alone is the command "".
	by       map[string][]string
	unpacked bool              // some are of an archive, so that their names are unknown
	texts    map[string]string // of those that the line writes in full, by the names of the files
	reading  int               // how many of them were read
	ran      map[string]int    // those that were run so far, with the number of their makers by then
	fetched  []string          // directories that are filled from elsewhere
	scripts  bool              // some were run whose names a pattern stands for
	built    []string          // programs that a compiler writes, of files that the line does not make
}

func newFiles() files {
	return files{by: map[string][]string{}, texts: map[string]string{}, ran: map[string]int{}}
}

// note remembers the files that a command makes.
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

// valueOf is the value that is in one word with its option: --output=x, -ox, of=x.
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

// made are the names of the commands so far that write a file.
func (f *files) made(file string) []string { return f.by[path.Base(file)] }

// among are the names of the commands so far that write one of some files.
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

// checking are options by which an interpreter reads a file and does not run it.
var checking = map[string]string{"ruby": "-c", "php": "-l", "node": "--check", "nodejs": "--check"}

// runsFile looks at the name of a file that a command runs.
func (s source) runsFile(c *Command, file Word) {
	if args := c.Args(); len(args) > 1 && args[0].Text == checking[c.Name()] && !slices.ContainsFunc(args[1:], func(w Word) bool { return strings.HasPrefix(w.Text, "-") }) {
		return // it only reads the file
	}
	if file.Known && len(s.files.by) == 0 && !s.files.unpacked && c.Name() == "node" && Option(*c, "--test") == Yes {
		return // whichever tests the project has
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

// anyScript reports whether a word is a pattern for scripts of the project, each of which might be
// run by its name, and the line makes no files.
func (s source) anyScript(w Word) bool {
	return w.Known && w.Glob && !w.Many && !w.Deep && len(s.files.by) == 0 && !s.files.unpacked && scriptPattern.MatchString(w.Text)
}

// scriptPattern is a pattern for the files of one directory that end as scripts do.
var (
	scriptPattern = regexp.MustCompile(`^(\./)?\w[\w-]*(/\w[\w-]*)*/[\w*-]*` + scriptEnd.String())
	scriptEnd     = regexp.MustCompile(`\.(sh|bash|py|js|mjs|cjs|ts|rb|php|pl|go)$`)
)

// run notes that a file is run.
func (f *files) run(file string) {
	name := path.Base(file)
	if _, before := f.ran[name]; !before && len(f.ran) < maxRan {
		f.ran[name] = len(f.by[name])
	}
}

// maxRan bounds the files that are remembered.
const maxRan = 256

// runsMade looks whether the same line makes a file that a command runs.
func (s source) runsMade(c *Command, file Word) {
	s.files.run(file.Text)
	if by := s.files.made(file.Text); len(by) > 0 {
		c.Runs = append(c.Runs, by...)
		c.doubt("it runs a file that the same line makes: " + clip(file.Text))
	}
}

// runsUnpacked looks whether a file that a command runs may be of an archive that the
// same line brings.
func (s source) runsUnpacked(c *Command, file Word) {
	if s.files.unpacked {
		c.doubt("it runs what may be in an archive that the same line brings: " + clip(file.Text))
	}
}
