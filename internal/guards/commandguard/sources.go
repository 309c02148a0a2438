package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// sources are the names of top-level project directories that contain hand-written files, not build
// output.
var sources = strings.Fields("src app apps packages pkg cmd internal tests test spec specs server client backend frontend source sources modules migrations services components crates")

// removesSources reports whether a command removes or moves away such a directory as a whole.
func removesSources(c shell.Command) shell.Found {
	switch name := c.Name(); {
	case name == "rsync":
		if from := operands(c); shell.Option(c, "--remove-source-files") == shell.Yes && len(from) > 1 {
			c.Words = append(c.Words[:1:1], from[:len(from)-1]...)
		} else {
			c = mirrored(c)
		}
	case name == "find" && deletes(c) && !limited(c):
		c = start(c)
	case name == "mv":
		words := operands(c)
		if c.MayHave("-t", "--target-directory*") {
			break
		}
		if len(words) < 2 || len(c.Dirs) == 0 || !absolute(located(words[len(words)-1].Text)) || strings.HasPrefix(words[len(words)-1].Text, c.Dirs[0]+"/") {
			return shell.No
		}
	case name == "git" && c.Verb() == "rm" && shell.Option(c, "--cached") == shell.No, name == "rimraf", name == "trash":
	case name != "rm" || recursive(c) == shell.No:
		return shell.No
	}
	return shell.FoundIf(slices.ContainsFunc(operands(c), func(w shell.Word) bool {
		dir := path.Clean(whose(path.Clean(w.Text)))
		if len(c.Dirs) > 0 {
			dir = strings.TrimPrefix(dir, c.Dirs[0]+"/")
		}
		return w.Known && slices.Contains(sources, dir)
	}))
}

// erasing matches a script of sed or Perl that empties a file.
var erasing = regexp.MustCompile(`^\s*((1,\$|1,\d{3,}|/\^?(\.\*)?\$?/|/\./)?\s*d|s(/\^?\.\*?(\\n)?\$?//|\|\.\*\||#\.\*##)[gmsI]*)\s*;?\s*$`)

// mute matches a script of awk that prints nothing.
var mute = regexp.MustCompile(`^\s*(BEGIN\s*\{\s*(exit\s*\d*\s*;?)?\s*\}|\{\s*(next|exit)?\s*;?\s*\}|0|)\s*$`)

// blanks reports whether a command empties files.
func blanks(c shell.Command) shell.Found {
	null := func(w shell.Word) bool { return w.Text == "/dev/null" }
	switch c.Name() {
	case "cat":
		return shell.FoundIf(c.Writes() && len(operands(c)) > 0 && !slices.ContainsFunc(operands(c), func(w shell.Word) bool { return !null(w) }))
	case "echo", "printf": // echo prints at least a line end, which is harmless
		return shell.FoundIf(c.Writes() && (c.Name() == "echo") == (len(c.Args()) == 1 && c.Args()[0].Text == "-n") && len(c.Args()) == 1 && slices.Contains([]string{"", "-n"}, c.Args()[0].Text))
	case "awk", "gawk", "mawk", "nawk":
		return shell.FoundIf(c.Writes() && slices.ContainsFunc(operands(c), func(w shell.Word) bool { return w.Known && mute.MatchString(w.Text) }))
	case "head":
		return shell.FoundIf(c.Writes() && c.Has("0", "-c0", "-n0"))
	case "jq", "yq":
		return shell.FoundIf(c.Writes() && slices.ContainsFunc(operands(c), func(w shell.Word) bool { return w.Text == "empty" }))
	case "tee":
		return shell.FoundIf(slices.ContainsFunc(c.Redirects, func(r shell.Redirect) bool { return !r.Write && null(r.File) }))
	case "ln", "install":
		words := operands(c)
		return shell.FoundIf(len(words) > 1 && null(words[0]))
	case "sed", "gsed", "perl", "ruby":
		if strings.HasSuffix(c.Name(), "sed") && inPlace(c) && shell.Option(c, "-n") == shell.Yes {
			return shell.Yes // the file keeps only what the script prints
		}
		return shell.FoundIf(inPlace(c) && c.AnyArg(func(text string) bool { return erasing.MatchString(text) || c.Name() == "perl" && text == "" }))
	}
	return shell.No
}

var editsInPlace = regexp.MustCompile(`^-[a-zA-Z0]*i|^--in-place`)

func inPlace(c shell.Command) bool {
	return c.AnyArg(editsInPlace.MatchString)
}
