package paths

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookrouter/hookrouter/pkg/approval"
)

// Pattern is a glob for paths.
type Pattern struct {
	text  string
	globs []string // without braces
	lower []string // globs in lower case
	homes []string // of those, the ones below a home directory, as paths that begin with ~
	above []string // directories that hold what lower and homes have, as globs
}

// Bounds of a pattern.
const (
	maxPattern = 1 << 10 // bytes
	maxGlobs   = 64      // that its braces stand for
)

var anchored = regexp.MustCompile(`^(/|~/|~$|\*\*/|[A-Za-z]:/)`)

// Parse reads a pattern.
func Parse(text string) (Pattern, error) {
	switch {
	case len(text) > maxPattern:
		return Pattern{}, errors.New("is longer than 1024 bytes")
	case !anchored.MatchString(text):
		return Pattern{}, errors.New("must begin with /, ~/, **/ or a drive such as C:/")
	case strings.Contains(text, `\`):
		return Pattern{}, errors.New("has a backslash: write / between names, on Windows too")
	case !doublestar.ValidatePattern(text):
		return Pattern{}, errors.New("is no glob: a bracket or brace is not closed")
	case slices.Contains(strings.Split(text, "/"), ".."):
		return Pattern{}, errors.New("has .. in it, which no path has that is compared")
	}
	p := Pattern{text: text, globs: expand([]string{text})}
	if len(p.globs) > maxGlobs {
		return Pattern{}, fmt.Errorf("stands for more than %d patterns: make its braces shorter", maxGlobs)
	}
	for _, glob := range p.globs {
		glob = strings.ToLower(glob)
		p.lower = append(p.lower, glob)
		if home := homeForm(glob); home != "" {
			p.homes = append(p.homes, home)
		}
	}
	for _, glob := range slices.Concat(p.lower, p.homes) {
		p.above = append(p.above, above(glob)...)
	}
	return p, nil
}

// above are the directories on the way to what a glob has, as globs: as far as its
// first **, which stands for any. Behind a leading ** a directory counts where it has
// a name without wildcards: else each directory would hold the files of **/.env.
func above(glob string) (all []string) {
	names := strings.Split(glob, "/")
	if names[0] == "~" && len(names) > 1 {
		all = append(all, "/", "/home", "/users", "?:", "?:/users")
	}
	named := names[0] != "**"
	for i, name := range names[:len(names)-1] {
		if i > 0 && name == "**" {
			break
		}
		if named = named || !strings.ContainsAny(name, "*?["); named {
			all = append(all, cmp.Or(strings.Join(names[:i+1], "/"), "/"))
		}
	}
	return all
}

// expand makes a glob for each text that braces stand for, so that to match takes no
// longer than the pattern looks. It stops at more than are allowed.
func expand(globs []string) []string {
	for i := 0; i < len(globs) && len(globs) <= maxGlobs; {
		open := strings.IndexByte(globs[i], '{')
		if open < 0 {
			i++
			continue
		}
		glob, depth, from := globs[i], 0, open+1
		var parts []string
		at := open
		for ; at < len(glob) && (at == open || depth > 0); at++ {
			switch c := glob[at]; {
			case c == '{':
				depth++
			case c == '}':
				depth--
			}
			if depth == 1 && glob[at] == ',' || depth == 0 {
				parts = append(parts, glob[from:at])
				from = at + 1
			}
		}
		all := make([]string, len(parts))
		for j, part := range parts {
			all[j] = glob[:open] + part + glob[at:]
		}
		globs = slices.Replace(globs, i, i+1, all...)
	}
	return globs
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
		if match(pattern.lower, form) || strings.HasPrefix(form, "~") && match(pattern.homes, form) {
			return true
		}
	}
	return false
}

// Is reports whether a pattern that allows has the path: all is certain, and case
// counts.
func (p Path) Is(pattern Pattern) bool {
	return !p.Unclear && slices.ContainsFunc(p.forms, func(form string) bool {
		return (rooted(form) || strings.HasPrefix(pattern.text, "**/")) && match(pattern.globs, form)
	})
}

// Holds reports whether what a pattern forbids may be below the path: it is one of the
// directories that the pattern names on its way. Of a pattern that begins with **
// these are the ones behind it, so **/.git/hooks/** has .git, and **/.env has none.
func (p Path) Holds(pattern Pattern) bool {
	return slices.ContainsFunc(p.forms, func(form string) bool { return match(pattern.above, strings.ToLower(form)) })
}

// Globbed reports whether a path that is itself a glob of a shell may lead to what a
// pattern forbids.
func (p Path) Globbed(pattern Pattern) bool {
	return p.meets(slices.Concat(pattern.lower, pattern.homes))
}

// GlobHolds is Holds for a path that is itself a glob of a shell.
func (p Path) GlobHolds(pattern Pattern) bool { return p.meets(pattern.above) }

// Named reports whether the last name of the path is one that a pattern forbids in any
// directory, or in those of some name: config for **/.git/config, hooks for
// **/.git/hooks/**.
func (p Path) Named(pattern Pattern) bool {
	for _, glob := range pattern.lower {
		name, anywhere := strings.CutPrefix(glob, "**/")
		name = path.Base(strings.TrimSuffix(name, "/**"))
		if anywhere && slices.ContainsFunc(p.forms, func(form string) bool { return names(strings.ToLower(path.Base(form)), name) }) {
			return true
		}
	}
	return false
}

func (p Path) meets(globs []string) bool {
	for _, form := range p.forms {
		for _, of := range globs {
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
	switch open := strings.ContainsAny(pattern, "*?["); {
	case !wild && !open:
		return glob == pattern
	case !wild:
		return match([]string{pattern}, glob)
	case strings.Contains(glob, "["):
		return true
	case strings.HasPrefix(pattern, ".") && !strings.HasPrefix(glob, "."):
		return false
	case !open:
		return approval.Glob(glob, pattern)
	}
	return oneBegins(glob[:wildcard(glob)], pattern[:wildcard(pattern)])
}

func wildcard(glob string) int { return strings.IndexAny(glob, "*?[") }

func oneBegins(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

func match(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		ok, err := doublestar.Match(glob, name)
		return ok || err != nil
	})
}
