package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/builtin/shell"
)

// system are directories without which a machine is lost, and homes.
var system = regexp.MustCompile(`^(?i)(/|~[a-z0-9_+-]*|/(bin|boot|dev|etc|home|lib|lib32|lib64|media|mnt|opt|private|proc|root|run|sbin|srv|sys|usr|var|applications|library|system|users|volumes)` +
	`|/(home|users)/[^/]+|/usr/(bin|lib|lib64|local|sbin|share)|/var/(lib|log)|/private/(etc|var)|(/mnt/)?/?[a-z]:?)$`)

// roots says whether a command names a directory of the system, or all that is in
// one, wherever it may run.
func roots(c shell.Command) shell.Found {
	found := shell.No
	for _, w := range operands(c) {
		switch {
		case isRoot(w.Text, c.Dirs):
			return shell.Yes
		case !w.Known || len(c.Dirs) == 0 && !strings.HasPrefix(w.Text, "/"):
			found = shell.Maybe // who knows where it is
		}
	}
	return found
}

func isRoot(text string, dirs []string) bool {
	text = strings.ReplaceAll(text, `\`, "/")
	for strings.HasSuffix(text, "/*") || strings.HasSuffix(text, "/.*") || strings.HasSuffix(text, "/.[!.]*") {
		text = text[:strings.LastIndexByte(text, '/')+1]
	}
	if text == "*" || text == ".*" {
		text = "."
	}
	for _, dir := range append([]string{""}, dirs...) {
		if dir != "" && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~") {
			if system.MatchString(path.Join(dir, text)) {
				return true
			}
		} else if (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || len(text) > 1 && text[1] == ':') && system.MatchString(path.Clean(text)) {
			return true
		}
	}
	return false
}

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

// recursive says whether a command goes down directories.
func recursive(c shell.Command) shell.Found {
	return max(shell.Option(c, "-r"), shell.Option(c, "-R"), shell.Option(c, "--recursive"))
}

func removesRoot(c shell.Command) shell.Found {
	switch c.Name() {
	case "rm", "srm", "shred", "rimraf", "trash", "rmdir", "rd", "del", "remove-item", "unlink":
		down := recursive(c)
		if down != shell.Yes && len(c.Dirs) > 0 && slices.ContainsFunc(operands(c), func(w shell.Word) bool { return w.Glob && isRoot(w.Text, c.Dirs) }) {
			return shell.Yes // rm -f /etc/*
		}
		if down != shell.No && slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return w.Text == "--no-preserve-root" }) {
			return shell.Yes
		}
		if c.Name() == "rimraf" || c.Name() == "trash" {
			down = shell.Yes
		}
		return min(down, roots(c))
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
		if words := operands(c); len(words) > 1 {
			c.Words = append(slices.Clone(c.Words[:1]), words[:len(words)-1]...)
			return sureRoots(c)
		}
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

// sureRoots is roots where what isn't known is taken for harmless.
func sureRoots(c shell.Command) shell.Found { return shell.FoundIf(roots(c) == shell.Yes) }

// deletes reports whether find removes what it finds.
func deletes(c shell.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return w.Text == "-delete" }) ||
		slices.ContainsFunc(c.Args(), func(w shell.Word) bool {
			return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w.Text)
		}) &&
			slices.ContainsFunc(c.Args(), func(w shell.Word) bool { return slices.Contains([]string{"rm", "/bin/rm", "shred", "unlink"}, w.Text) })
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
	case "rm", "rimraf", "trash":
		return min(here(c), max(recursive(c), shell.FoundIf(c.Name() != "rm")))
	}
	return shell.No
}

// here says whether a command names all that is in the directory where it runs, or in
// one above.
func here(c shell.Command) shell.Found {
	return shell.FoundIf(slices.ContainsFunc(operands(c), func(w shell.Word) bool {
		text := strings.TrimSuffix(strings.TrimSuffix(w.Text, "*"), "/")
		return w.Known && (text == "" || strings.Trim(text, "./") == "")
	}))
}

// tests are those of find that leave some files out, unless their value is a *.
var tests = regexp.MustCompile(`^-(i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|[acm](time|min)|size|empty|user|uid|group|gid|perm|inum|samefile)$`)

// limited reports whether find leaves some files out: each of its alternatives has a test.
func limited(c shell.Command) bool {
	limits, alternatives := 0, 1
	for i, w := range c.Args() {
		switch {
		case w.Text == "-o" || w.Text == "-or" || w.Text == ",":
			alternatives++
		case tests.MatchString(w.Text) && i > 0 && !slices.Contains([]string{"!", "-not"}, c.Args()[i-1].Text) &&
			(w.Text == "-empty" || i+1 < len(c.Args()) && strings.Trim(c.Args()[i+1].Text, "*./") != ""):
			limits++
		}
	}
	return limits >= alternatives
}
