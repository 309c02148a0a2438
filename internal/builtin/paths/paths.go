package paths

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Pattern is a glob for paths.
type Pattern struct {
	text  string
	forms []string // in lower case; the second one is for paths that begin with ~
}

// maxPattern bounds a pattern, in bytes.
const maxPattern = 1 << 10

var anchored = regexp.MustCompile(`^(/|~/|~$|\*\*/|[A-Za-z]:/)`)

// Parse reads a pattern.
func Parse(text string) (Pattern, error) {
	switch {
	case len(text) > maxPattern:
		return Pattern{}, errors.New("is longer than 1024 bytes")
	case !anchored.MatchString(text):
		return Pattern{}, errors.New("must begin with /, ~/, **/ or a drive such as C:/")
	case !doublestar.ValidatePattern(text):
		return Pattern{}, errors.New("is no glob: a bracket or brace is not closed")
	case slices.Contains(strings.Split(text, "/"), ".."):
		return Pattern{}, errors.New("has .. in it, which no path has that is compared")
	}
	p := Pattern{text, []string{strings.ToLower(text)}}
	if home := homeForm(p.forms[0]); home != "" {
		p.forms = append(p.forms, home)
	}
	return p, nil
}

// String is the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Path is a path in every form that patterns know it by.
type Path struct {
	// Text is as it was sent.
	Text string
	// Unclear says that nobody knows where it is: it begins with .., and what from is
	// not known.
	Unclear bool
	forms   []string
}

var (
	drive = regexp.MustCompile(`^[A-Za-z]:`)
	homes = regexp.MustCompile(`^(?i)(/home/[^/]+|/users/[^/]+|/root|/var/root|[a-z]:/users/[^/]+)(/|$)`)
	tilde = regexp.MustCompile(`^~[^/]*`)
)

// Resolve finds a path from the directory cwd, which is empty where it is not known.
func Resolve(text, cwd string) Path {
	clean := slashes(strings.TrimPrefix(text, "file://"))
	if cwd = slashes(cwd); cwd != "" && !rooted(clean) {
		clean = cwd + "/" + clean
	}
	if at := tilde.FindStringIndex(clean); at != nil {
		return ofHome(text, path.Clean("."+clean[at[1]:]))
	}
	clean = path.Clean(clean)
	if strings.HasPrefix(clean, "//") {
		clean = clean[1:]
	}
	p := Path{Text: text, Unclear: outside(clean), forms: []string{clean}}
	if home := homeForm(clean); home != "" {
		p.forms = append(p.forms, home)
	}
	return p
}

// ofHome is a path from somebody's home. Where it leads out of it, it may be in any
// place that homes stand at.
func ofHome(text, from string) Path {
	if outside(from) {
		return Path{Text: text, Unclear: true, forms: []string{path.Clean("/home/eve/" + from), path.Clean("/root/" + from)}}
	}
	return Path{Text: text, forms: []string{path.Join("~", from)}}
}

func outside(path string) bool { return path == ".." || strings.HasPrefix(path, "../") }

// rooted reports whether a path needs no directory to be found from.
func rooted(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || drive.MatchString(text)
}

// slashes makes a path of Windows one of ours.
func slashes(text string) string {
	if drive.MatchString(text) || !strings.Contains(text, "/") {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	return text
}

// homeForm is a path below a home directory as it is written with ~, or empty.
func homeForm(text string) string {
	at := homes.FindStringIndex(text)
	if at == nil {
		return ""
	}
	return strings.TrimSuffix("~/"+text[at[1]:], "/")
}

// Name is the path as people are told it.
func (p Path) Name() string {
	if len(p.forms) == 0 {
		return p.Text
	}
	return p.forms[0]
}

// MayBe reports whether a pattern that forbids has the path. Case doesn't count, since
// many file systems take no notice of it.
func (p Path) MayBe(pattern Pattern) bool {
	for _, form := range p.forms {
		form = strings.ToLower(form)
		if match(pattern.forms[0], form) || len(pattern.forms) > 1 && strings.HasPrefix(form, "~") && match(pattern.forms[1], form) {
			return true
		}
	}
	return false
}

// Is reports whether a pattern that allows has the path: all is certain, and case
// counts.
func (p Path) Is(pattern Pattern) bool {
	return !p.Unclear && slices.ContainsFunc(p.forms, func(form string) bool {
		return (rooted(form) || strings.HasPrefix(pattern.text, "**/")) && match(pattern.text, form)
	})
}

// Holds reports whether what a pattern forbids may be below the path.
func (p Path) Holds(pattern Pattern) bool {
	for _, fixed := range pattern.forms {
		fixed, _ := doublestar.SplitPattern(fixed)
		for _, form := range p.forms {
			form = strings.ToLower(form)
			if rooted(fixed) && (form == "/" || form == fixed || strings.HasPrefix(fixed, form+"/")) {
				return true
			}
		}
	}
	return false
}

// Globbed reports whether a path that is itself a glob of a shell may lead to what a
// pattern forbids.
func (p Path) Globbed(pattern Pattern) bool {
	for _, form := range p.forms {
		for _, of := range pattern.forms {
			if meet(strings.Split(strings.ToLower(form), "/"), strings.Split(of, "/"), new(int)) {
				return true
			}
		}
	}
	return false
}

// maxMeet bounds the steps of meet; a pair that needs more is taken to meet.
const maxMeet = 10000

// meet reports whether some path has both forms, name by name.
func meet(glob, pattern []string, steps *int) bool {
	if *steps++; *steps > maxMeet {
		return true
	}
	switch {
	case len(pattern) == 0:
		return len(glob) == 0
	case pattern[0] == "**":
		return meet(glob, pattern[1:], steps) || len(glob) > 0 && meet(glob[1:], pattern, steps)
	case len(glob) == 0:
		return false
	}
	return names(glob[0], pattern[0]) && meet(glob[1:], pattern[1:], steps)
}

// names reports whether a name may have both forms. A shell's wildcard has no name that
// begins with a dot.
func names(glob, pattern string) bool {
	wild := strings.ContainsAny(glob, "*?[")
	switch open := strings.ContainsAny(pattern, "*?[{"); {
	case !wild && !open:
		return glob == pattern
	case !wild:
		return match(pattern, glob)
	case strings.HasPrefix(pattern, ".") && !strings.HasPrefix(glob, "."):
		return false
	case !open:
		return match(glob, pattern)
	}
	return true
}

func match(pattern, name string) bool {
	ok, err := doublestar.Match(pattern, name)
	return ok || err != nil
}
