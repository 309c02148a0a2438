package paths

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Pattern is a glob for paths.
type Pattern struct {
	text  string
	globs []string // with braces expanded
	lower []string // globs in lower case
	homes []string // those below a home directory, beginning with ~
	above []string // directories that contain matches of lower and homes, as globs
}

// Limits of a pattern.
const (
	maxPattern = 1 << 10 // bytes
	maxGlobs   = 64      // after brace expansion
)

var anchored = regexp.MustCompile(`^(/|~/|~$|\*\*/|[A-Za-z]:/)`)

// Parse parses a pattern.
func Parse(text string) (Pattern, error) {
	switch {
	case len(text) > maxPattern:
		return Pattern{}, errors.New("is longer than 1024 bytes")
	case !anchored.MatchString(text):
		return Pattern{}, errors.New("must begin with /, ~/, **/ or a drive such as C:/")
	case strings.Contains(text, `\`):
		return Pattern{}, errors.New("has a backslash: write / between names, on Windows too")
	case !doublestar.ValidatePattern(text):
		return Pattern{}, errors.New("is not a valid glob: a bracket or brace is not closed")
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

// above returns the directories of a glob up to its first **, as globs. After a leading ** a
// directory counts only from one with a literal name on: otherwise **/.env would name every
// directory.
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

// expand expands the braces of globs, so that the cost of matching is in proportion to the number
// of globs. It stops when there are more than the limit.
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

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }
