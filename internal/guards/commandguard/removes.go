package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// operands are the arguments that are no options.
func operands(c shell.Command) []shell.Word {
	var all []shell.Word
	options := true
	for _, w := range c.Args() {
		switch {
		case options && w.Known && w.Text == "--":
			options = false
		case options && strings.HasPrefix(w.Text, "-"):
		default:
			all = append(all, w)
		}
	}
	return all
}

// empties says whether a command names all that is in a directory of the system, as in
// rm -f /etc/*.
func empties(c shell.Command) shell.Found {
	found, places := shell.No, places(c.Dirs)
	for _, w := range operands(c) {
		switch {
		case !w.Glob || !every.MatchString(path.Base(located(w.Text))):
		case isRoot(w.Text, places):
			return shell.Yes
		case !w.Known:
			found = shell.Maybe
		}
	}
	return found
}

func removesRoot(c shell.Command) shell.Found {
	switch c.Name() {
	case "rm", "srm", "shred", "rimraf", "trash", "rmdir", "rd", "del", "remove-item", "unlink":
		if recursive(c) != shell.No && c.Has("--no-preserve-root") {
			return shell.Yes
		}
		if c.Name() == "rimraf" || c.Name() == "trash" {
			return roots(c)
		}
		return max(empties(c), rootsBelow(c))
	case "gio":
		if verb := operands(c); len(verb) > 1 && slices.Contains([]string{"trash", "remove"}, verb[0].Text) {
			return roots(c)
		}
	case "rsync":
		return roots(mirrored(c))
	case "tar", "bsdtar", "zip":
		if shell.Option(c, "--remove-files") == shell.Yes || c.Name() == "zip" && shell.Option(c, "-m") == shell.Yes {
			return sureRoots(c)
		}
	case "find":
		if deletes(c) {
			return roots(start(c))
		}
	case "mv":
		return sureRoots(moved(c))
	}
	return shell.No
}

// mirrored is rsync with only the directory where it removes files.
func mirrored(c shell.Command) shell.Command {
	words := operands(c)
	removes := max(shell.Option(c, "--delete*"), shell.Option(c, "--del")) != shell.No
	c.Words = c.Words[:1:1]
	if len(words) > 1 && removes {
		c.Words = append(c.Words, words[len(words)-1])
	}
	return c
}

// moved is mv with only what it moves.
func moved(c shell.Command) shell.Command {
	words := operands(c)
	c.Words = append(c.Words[:1:1], words[:max(len(words)-1, 0)]...)
	return c
}

// sureRoots is roots where what isn't known is taken for harmless.
func sureRoots(c shell.Command) shell.Found { return shell.FoundIf(roots(c) == shell.Yes) }

// deletes reports whether find removes what it finds.
func deletes(c shell.Command) bool {
	return c.Has("-delete") || c.Has("-exec", "-execdir", "-ok", "-okdir") && c.Has("rm", "/bin/rm", "shred", "unlink")
}

// start is find with only the directories that it begins at.
func start(c shell.Command) shell.Command {
	dirs, _ := shell.Starts(c)
	c.Words = append(slices.Clone(c.Words[:1]), dirs...)
	return c
}

func removesHere(c shell.Command) shell.Found {
	switch c.Name() {
	case "find":
		if !deletes(c) || limited(c) {
			return shell.No
		}
		return here(start(c))
	case "rsync":
		return here(mirrored(c))
	case "mv":
		return here(moved(c))
	case "git":
		if c.Verb() == "rm" && shell.Option(c, "--cached") == shell.No {
			return min(here(c), shell.FoundIf(recursive(c) == shell.Yes || slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return w.Deep })))
		}
	case "rm", "rimraf", "trash":
		if slices.ContainsFunc(operands(c), everyOfKind) {
			return shell.Yes
		}
		return min(here(c), max(recursive(c), shell.FoundIf(c.Name() != "rm" || slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return w.Deep }))))
	}
	return shell.No
}

// here says whether a command names all that is in the directory where it runs, or in
// one above.
func here(c shell.Command) shell.Found {
	return shell.FoundIf(slices.ContainsFunc(operands(c), func(w shell.Word) bool {
		dir := path.Clean(located(w.Text))
		return w.Known && (strings.Trim(whose(dir), "./") == "" || slices.ContainsFunc(c.Dirs, func(from string) bool {
			above := dir
			if !absolute(dir) {
				above = path.Join(located(from), dir)
			}
			return absolute(above) && strings.HasPrefix(located(c.Dirs[0])+"/", above+"/")
		}))
	}))
}

// tests are those of find that leave some files out, unless their value stands for all files or
// all of a kind. Most files of a project are old, or small, or have the same owner.
var tests = regexp.MustCompile(`^-(i?name|i?path|i?wholename|i?regex|i?lname|empty|inum|samefile)$`)

// limited reports whether find leaves some files out: each of its alternatives has a test.
func limited(c shell.Command) bool {
	limits, alternatives := 0, 1
	for i, w := range c.Args() {
		switch {
		case w.Text == "-o" || w.Text == "-or" || w.Text == ",":
			alternatives++
		case tests.MatchString(w.Text) && i > 0 && !slices.Contains([]string{"!", "-not"}, c.Args()[i-1].Text) &&
			(w.Text == "-empty" || i+1 < len(c.Args()) && strings.Trim(c.Args()[i+1].Text, "*./") != "" && !wholeKind(c.Args()[i+1].Text) && (!strings.HasSuffix(w.Text, "regex") || !kindOf.MatchString(c.Args()[i+1].Text))):
			limits++
		}
	}
	return limits >= alternatives
}

var (
	// ofKind is a pattern for the names of all files of a kind.
	ofKind = regexp.MustCompile(`^(\./)?(\*\*?/)*\*(\.[\w{},\[\]?*]+)+$`)
	// kindOf is such a pattern of find -regex.
	kindOf = regexp.MustCompile(`^\^?(\.\*|\\?\./\.\*)\\?\.[\w\\()|]+\$?$`)
	// leftover is in the names of files that programs make, and make again.
	leftover = regexp.MustCompile(`(?i)\.(py[cod]|log|te?mp|bak|backup|old|orig|rej|sw[nopx]|o|l?a|l?o|so|obj|class|d|dep|gc(da|no|ov)|prof(raw|data)?|out|test|exe|dll|dylib|cover(age)?|tsbuildinfo|map|cache|pid|pb|gen|g|freezed|generated|mocks?|min|bundle|snap|new|hi|beam|elc|fasl|aux|toc|fls|fdb_latexmk|stackdump|core|dmp|retry|part|crdownload|egg-info|rs\.bk|un~|lock)\b`)
)

// wholeKind reports whether a pattern stands for all files of a kind that nothing makes again.
func wholeKind(pattern string) bool {
	return ofKind.MatchString(pattern) && !leftover.MatchString(pattern)
}

// everyOfKind reports whether a word is all files of a kind, from the directory of the command down.
func everyOfKind(w shell.Word) bool {
	return w.Glob && (w.Deep || strings.Contains(w.Text, "**/")) && wholeKind(w.Text)
}
