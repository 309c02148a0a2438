package pathguard

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// pours is the directory that a command fills with files whose names the line doesn't tell, over
// those that are there: all that is in another directory, or in an archive.
//
// An archive of the project that is unpacked beside itself most likely makes a directory.
func pours(c shell.Command, operands []shell.Word) (target shell.Word, found bool) {
	switch c.Name() {
	case "cp", "rsync", "ditto":
		if len(operands) < 2 || !goesDown(c) {
			return target, false
		}
		whole := c.Name() == "ditto" || shell.Option(c, "-T") == shell.Yes || slices.ContainsFunc(operands[:len(operands)-1], func(w shell.Word) bool {
			return strings.HasSuffix(w.Text, "/.") || c.Name() == "rsync" && strings.HasSuffix(w.Text, "/")
		})
		return operands[len(operands)-1], whole
	case "tar", "bsdtar":
		if archives(c) || !slices.ContainsFunc(c.Args()[:min(1, len(c.Args()))], func(w shell.Word) bool { return strings.ContainsAny(strings.TrimLeft(w.Text, "-"), "xg") }) {
			return target, false
		}
		return unpacksTo(c, shell.Options{Values: "C"}, "--overwrite", "--strip*", "--unlink-first", "-U", "--recursive-unlink")
	case "unzip":
		if shell.Option(c, "-l") == shell.Yes || shell.Option(c, "-p") == shell.Yes || shell.Option(c, "-t") == shell.Yes {
			return target, false
		}
		return unpacksTo(c, shell.Options{Values: "d"}, "-o", "-oq", "-qo")
	}
	return target, false
}

// unpacksTo is where an archive is unpacked, if it comes from elsewhere, or is told where to, or to
// replace files.
func unpacksTo(c shell.Command, option shell.Options, replaces ...string) (target shell.Word, found bool) {
	for a := range option.In(c.Args()) {
		switch {
		case a.Takes && a.Value.Text != "":
			return a.Value, true
		case elsewhere.MatchString(a.Text):
			found = true
		}
	}
	found = found || slices.ContainsFunc(replaces, func(o string) bool { return shell.Option(c, o) == shell.Yes })
	return shell.Word{Text: ".", Known: true}, found
}
