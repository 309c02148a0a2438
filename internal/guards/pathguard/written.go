package pathguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// writesTo matches options that name an output file or directory in any program.
	writesTo = regexp.MustCompile(`^--(?:[a-z]+[-_])*(?:(?:out|output|log|report|dump|save|record|write|backup|html|xml|durations)[-_]?(?:file|path|dir|directory|batch|report|to)|out|output|html|destination|declarationDir|generateTrace)$`)
	// elsewhere matches the beginning of a path out of the project.
	elsewhere = regexp.MustCompile(`^(/|~|\.\./)`)
	compilers = strings.Fields("gcc g++ cc c++ clang clang++ cpp")
	// besides matches options of compilers for additional output files. The second form takes the
	// file as the next word.
	besides = regexp.MustCompile(`^(?:-(?:-?save-temps|ftime-trace|fdump-[\w-]*|fprofile-(?:dir|generate))=|-Wp,-MM?D,|-M[FJ])(.+)$|^-(?:M[FJ]|aux-info|dumpdir|dumpbase|-?serialize-diagnostics)$`)
	// profiles matches options of gawk that write a file about its program, joined to the option.
	profiles = regexp.MustCompile(`^(?:-[dop]|--(?:dump-variables|profile|pretty-print)=)(.+)$`)
	awkNames = strings.Fields("awk gawk")
)

// writtenByOption returns the file that an option of a program names for output. next is true if
// the next word names it. before is the previous word, which may be such an option; -o counts only
// for programs whose effects are unknown.
func (s *collector) writtenByOption(name, word, before string, usual bool) (file string, next bool) {
	switch {
	case s.contains:
	case slices.Contains(compilers, name):
		if m := besides.FindStringSubmatch(word); m != nil {
			return m[1], m[1] == ""
		}
	case slices.Contains(awkNames, name):
		if m := profiles.FindStringSubmatch(word); m != nil {
			return m[1], false
		}
	}
	if option, value, joined := strings.Cut(word, "="); joined && elsewhere.MatchString(value) && writesTo.MatchString(option) && !s.contains {
		return value, false
	}
	if elsewhere.MatchString(word) && (writesTo.MatchString(before) || usual && before == "-o") && !s.contains {
		return word, false
	}
	return "", false
}

// cmakeTools are the equivalents of the tools of cmake -E.
var cmakeTools = map[string][]string{
	"copy": {"cp"}, "copy_if_different": {"cp"}, "copy_if_newer": {"cp"}, "copy_directory": {"cp", "-r"}, "copy_directory_if_different": {"cp", "-r"}, "copy_directory_if_newer": {"cp", "-r"},
	"rename": {"mv"}, "create_symlink": {"ln", "-s"}, "create_hardlink": {"ln"}, "touch": {"touch"}, "touch_nocreate": {"touch"}, "make_directory": {"mkdir"}, "cat": {"cat"}, "tar": {"tar"},
}

// cmakeTool returns the equivalent of a tool of cmake -E: cmake -E copy a b is cp a b.
func cmakeTool(c shell.Command) shell.Command {
	args := c.Args()
	if c.Name() != "cmake" || len(args) < 2 || args[0].Text != "-E" || cmakeTools[args[1].Text] == nil {
		return c
	}
	c.Words = nil
	for _, text := range cmakeTools[args[1].Text] {
		c.Words = append(c.Words, shell.Word{Text: text, Known: true})
	}
	c.Words = append(c.Words, args[2:]...)
	return dashed(c)
}
