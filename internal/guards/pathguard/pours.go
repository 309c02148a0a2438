package pathguard

import (
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// pours returns the directory in which a command may overwrite files whose names the line does not
// contain: it copies everything in another directory, or unpacks an archive.
//
// An archive of the project that is unpacked in its own directory probably creates a new directory.
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

// unpacksTo returns the directory in which an archive is unpacked. found is true if the archive is
// from outside the project, or if an option names the directory or allows overwriting.
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
