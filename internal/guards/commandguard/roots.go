package commandguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// system are directories without which a machine is lost, and where homes are.
var system = strings.Fields("/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /private /proc /root /run /sbin /srv /sys /usr /var" +
	" /applications /library /system /users /volumes /usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /var/lib /var/log /private/etc /private/var")

var (
	// drive is one of Windows, as its programs and those of Linux name it.
	drive = regexp.MustCompile(`^(/mnt/)?/?[a-z]:?$`)
	// home is the directory of a user.
	home = regexp.MustCompile(`^~[a-z0-9_+-]*(/|$)`)
	// every is a name that each file has, or each that begins with a dot.
	every = regexp.MustCompile(`^\.{0,2}[*?]*\*[*?]*$`)
	// brackets are those of a pattern: they are taken for any character.
	brackets = regexp.MustCompile(`\[[!^]?\]?(\[:\w*:\]|[^]/])*\]`)
)

// roots says whether a command names a directory of the system, or all that is in
// one, wherever it may run.
func roots(c shell.Command) shell.Found {
	found, places := shell.No, places(c.Dirs)
	for _, w := range targets(c) {
		switch {
		case isRoot(w.Text, places):
			return shell.Yes
		case !w.Known || len(c.Dirs) == 0 && !strings.HasPrefix(w.Text, "/"):
			found = shell.Maybe // who knows where it is
		}
	}
	return found
}

// isRoot reports whether a path, in one of the places, is a directory of the system or
// all that is in one, or a pattern that finds one.
func isRoot(text string, places []string) bool {
	text = located(text)
	if absolute(text) {
		return isSystem(whose(path.Clean(text)))
	}
	return slices.ContainsFunc(places, func(dir string) bool { return isSystem(whose(path.Join(dir, text))) })
}

// places are the directories of which it is known where they are.
func places(dirs []string) (all []string) {
	for _, dir := range dirs {
		if dir = located(dir); absolute(dir) {
			all = append(all, dir)
		}
	}
	return all
}

// located is a path or pattern in one form, with homes where they are, so that what is
// above them is known.
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

// whose is the directory all whose files a pattern finds, or else the path as it is.
func whose(text string) string {
	for every.MatchString(path.Base(text)) {
		text = path.Dir(text)
	}
	return text
}

// anyDepth is what stands for directories at any depth in some shells, and for one in others.
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
	// modes are options that are a mode, or stand for one.
	modes = regexp.MustCompile(`^(-[^-RvcfhHLP]|--ref)`)
	// someone is an owner that is one word without quotes too.
	someone = regexp.MustCompile(`^([\w.:-]|\$\{?(E?UID|USER|LOGNAME|SUDO_USER|SUDO_[UG]ID)\}?|\$\((id -\w+|id -\w -\w|whoami|logname)\))+$`)
)

// targets are the operands that a command works on: those of chmod and the like stand
// behind a mode or an owner.
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

// recursive says whether a command goes down directories.
func recursive(c shell.Command) shell.Found {
	return max(shell.Option(c, "-r"), shell.Option(c, "-R"), shell.Option(c, "--recursive"))
}

// below is a file in a directory that is not known: no option.
var below = regexp.MustCompile(`^\$(\w+|\{\w+\})/`)

// rootsBelow is roots for a command that goes down directories only if it is told to.
// One word that is not known may be the option or a directory, but not both.
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
