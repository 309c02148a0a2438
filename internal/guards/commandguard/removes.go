package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// operands returns the arguments that are not options.
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

// empties reports whether a command names everything in a system directory, as in rm -f /etc/*.
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

// mirrored returns rsync with only the directory in which it deletes files.
func mirrored(c shell.Command) shell.Command {
	words := operands(c)
	removes := max(shell.Option(c, "--delete*"), shell.Option(c, "--del")) != shell.No
	c.Words = c.Words[:1:1]
	if len(words) > 1 && removes {
		c.Words = append(c.Words, words[len(words)-1])
	}
	return c
}

// moved returns mv with only its sources.
func moved(c shell.Command) shell.Command {
	words := operands(c)
	c.Words = append(c.Words[:1:1], words[:max(len(words)-1, 0)]...)
	return c
}

// sureRoots is like roots, but treats unknown words as harmless.
func sureRoots(c shell.Command) shell.Found { return shell.FoundIf(roots(c) == shell.Yes) }

// deletes reports whether find deletes files.
func deletes(c shell.Command) bool {
	return c.Has("-delete") || c.Has("-exec", "-execdir", "-ok", "-okdir") && c.Has("rm", "/bin/rm", "shred", "unlink")
}

// start returns find with only its start directories.
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

// here reports whether a command names everything in its directory or in a parent of it.
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

// tests matches tests of find that select only some files, unless their value matches all files or
// all of one kind. Most files of a project are old, small, or of the same owner, so tests of those
// don't count.
var tests = regexp.MustCompile(`^-(i?name|i?path|i?wholename|i?regex|i?lname|empty|inum|samefile)$`)

// limited reports whether find selects only some files: each of its alternatives has a test.
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
	// ofKind matches a pattern for the names of all files of a kind.
	ofKind = regexp.MustCompile(`^(\./)?(\*\*?/)*\*(\.[\w{},\[\]?*]+)+$`)
	// kindOf matches such a pattern of find -regex.
	kindOf = regexp.MustCompile(`^\^?(\.\*|\\?\./\.\*)\\?\.[\w\\()|]+\$?$`)
	// leftover matches the names of generated files.
	leftover = regexp.MustCompile(`(?i)\.(py[cod]|log|te?mp|bak|backup|old|orig|rej|sw[nopx]|o|l?a|l?o|so|obj|class|d|dep|gc(da|no|ov)|prof(raw|data)?|out|test|exe|dll|dylib|cover(age)?|tsbuildinfo|map|cache|pid|pb|gen|g|freezed|generated|mocks?|min|bundle|snap|new|hi|beam|elc|fasl|aux|toc|fls|fdb_latexmk|stackdump|core|dmp|retry|part|crdownload|egg-info|rs\.bk|un~|lock)\b`)
)

// wholeKind reports whether a pattern matches all files of a kind that is not generated.
func wholeKind(pattern string) bool {
	return ofKind.MatchString(pattern) && !leftover.MatchString(pattern)
}

// everyOfKind reports whether a word matches all files of a kind in the directory and below.
func everyOfKind(w shell.Word) bool {
	return w.Glob && (w.Deep || strings.Contains(w.Text, "**/")) && wholeKind(w.Text)
}
