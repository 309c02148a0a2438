package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// system are directories that a machine cannot work without, or that contain homes.
var system = strings.Fields("/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /private /proc /root /run /sbin /srv /sys /usr /var" +
	" /applications /library /system /users /volumes /usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /var/lib /var/log /private/etc /private/var")

var (
	// drive matches a drive of Windows, as written in Windows and in WSL.
	drive = regexp.MustCompile(`^(/mnt/)?/?[a-z]:?$`)
	// home matches the home directory of a user.
	home = regexp.MustCompile(`^~[a-z0-9_+-]*(/|$)`)
	// every matches a pattern for all names, or for all names that begin with a dot.
	every = regexp.MustCompile(`^\.{0,2}[*?]*\*[*?]*$`)
	// brackets match a bracket expression, which is treated as any character.
	brackets = regexp.MustCompile(`\[[!^]?\]?(\[:\w*:\]|[^]/])*\]`)
)

// roots reports whether a command names a system directory, or everything in one, in any directory
// where it may run.
func roots(c shell.Command) shell.Found {
	found, places := shell.No, places(c.Dirs)
	for _, w := range targets(c) {
		switch {
		case isRoot(w.Text, places):
			return shell.Yes
		case !w.Known || len(c.Dirs) == 0 && !strings.HasPrefix(w.Text, "/"):
			found = shell.Maybe // its location is unknown
		}
	}
	return found
}

// isRoot reports whether a path, relative to one of the places, is a system directory or everything
// in one, or is a pattern that matches one.
func isRoot(text string, places []string) bool {
	text = located(text)
	if absolute(text) {
		return isSystem(whose(path.Clean(text)))
	}
	return slices.ContainsFunc(places, func(dir string) bool { return isSystem(whose(path.Join(dir, text))) })
}

// places returns the directories whose absolute location is known.
func places(dirs []string) (all []string) {
	for _, dir := range dirs {
		if dir = located(dir); absolute(dir) {
			all = append(all, dir)
		}
	}
	return all
}

// located returns a path or pattern in a canonical form. Homes are below /home, so that their
// parents are known.
func located(text string) string {
	text = brackets.ReplaceAllString(strings.ToLower(strings.ReplaceAll(text, `\`, "/")), "?")
	if home.MatchString(text) {
		return "/home/" + text
	}
	return text
}

func absolute(text string) bool {
	return strings.HasPrefix(text, "/") || len(text) > 1 && text[1] == ':'
}

// whose returns the directory whose files a pattern matches completely, or the path itself.
func whose(text string) string {
	for every.MatchString(path.Base(text)) {
		text = path.Dir(text)
	}
	return text
}

// anyDepth matches **, which some shells expand to directories at any depth and others to one.
var anyDepth = regexp.MustCompile(`/(\*\*/)+`)

func isSystem(text string) bool {
	if shallow := anyDepth.ReplaceAllLiteralString(text, "/"); shallow != text && isSystem(shallow) {
		return true
	}
	if drive.MatchString(text) {
		return true
	}
	if strings.Count(text, "/") > 2 {
		return false
	}
	above := path.Dir(text)
	return slices.ContainsFunc(system, func(dir string) bool { return finds(text, dir) }) || finds(above, "/home") || finds(above, "/users")
}

func finds(pattern, dir string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return pattern == dir
	}
	found, err := path.Match(pattern, dir)
	return found && err == nil
}

var (
	// modes match options that are a mode or replace one.
	modes = regexp.MustCompile(`^(-[^-RvcfhHLP]|--ref)`)
	// someone matches an owner that expands to one word even without quotes.
	someone = regexp.MustCompile(`^([\w.:-]|\$\{?(E?UID|USER|LOGNAME|SUDO_USER|SUDO_[UG]ID)\}?|\$\((id -\w+|id -\w -\w|whoami|logname)\))+$`)
)

// targets returns the operands that a command works on. Those of chmod and the like follow a mode
// or an owner.
func targets(c shell.Command) []shell.Word {
	words := operands(c)
	if !slices.Contains([]string{"chmod", "chown", "chgrp"}, c.Name()) || len(words) == 0 || absolute(located(words[0].Text)) {
		return words
	}
	if words[0].Many && !someone.MatchString(words[0].Text) || c.AnyArg(modes.MatchString) {
		return words
	}
	return words[1:]
}

// recursive reports whether a command descends into directories.
func recursive(c shell.Command) shell.Found {
	return max(shell.Option(c, "-r"), shell.Option(c, "-R"), shell.Option(c, "--recursive"))
}

// below matches a file in an unknown directory, which can't be an option.
var below = regexp.MustCompile(`^\$(\w+|\{\w+\})/`)

// rootsBelow is like roots, for a command that needs an option to descend into directories. One
// unknown word may be the option or a directory, but not both.
func rootsBelow(c shell.Command) shell.Found {
	found := min(recursive(c), roots(c))
	if found == shell.No || recursive(c) == shell.Yes {
		return found
	}
	for i, w := range c.Args() {
		option := shell.Command{Words: []shell.Word{c.Words[0], w}}
		if recursive(option) == shell.No || !w.Many && below.MatchString(w.Text) {
			continue
		}
		rest := c
		if !w.Many && !w.Glob && !strings.HasPrefix(w.Text, "-") {
			rest.Words = slices.Delete(slices.Clone(c.Words), i+1, i+2)
		}
		if roots(rest) != shell.No {
			return shell.Maybe
		}
	}
	return shell.No
}
