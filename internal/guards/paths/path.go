package paths

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Path is a path in all forms that patterns are compared with.
type Path struct {
	// Text is the path as it was received.
	Text string
	// Unclear is true if the location is unknown, because the path leaves an unknown directory
	// through a "..".
	Unclear bool
	forms   []string
	folded  []string // forms, normalized for comparison
}

var (
	drive = regexp.MustCompile(`^[A-Za-z]:`)
	homes = regexp.MustCompile(`^(?i)(/home/[^/]+|/users/[^/]+|/root|/var/root|[a-z]:/users/[^/]+)(/|$)`)
	// fileURL matches the part before the path in file:///x, file://localhost/x and file:x.
	fileURL = regexp.MustCompile(`^(?i)file:(//(localhost|127\.0\.0\.1)?)?`)
	tilde   = regexp.MustCompile(`^~[^/]*`)
)

// Resolve resolves a path relative to the directory cwd, which is empty if it is unknown.
func Resolve(text, cwd string) Path {
	clean := slashes(ofURL(text))
	if cwd = slashes(cwd); cwd != "" && !rooted(clean) {
		clean = cwd + "/" + clean
	}
	if at := tilde.FindStringIndex(clean); at != nil {
		return ofHome(text, path.Clean("."+clean[at[1]:]))
	}
	resolved, leaves := throughLinks(clean)
	clean = path.Clean(clean)
	if strings.HasPrefix(clean, "//") {
		clean = clean[1:]
	}
	forms := []string{clean}
	if resolved != "" {
		forms = append(forms, resolved)
	}
	for _, form := range forms {
		if home := homeForm(form); home != "" {
			forms = append(forms, home)
		}
	}
	return of(text, leaves || outside(clean), forms)
}

// ofURL returns the path of a file URL, and any other text unchanged.
func ofURL(text string) string {
	at := fileURL.FindStringIndex(text)
	if at == nil {
		return text
	}
	file, _, _ := strings.Cut(text[at[1]:], "?")
	if plain, err := url.PathUnescape(file); err == nil {
		file = plain
	}
	return file
}

// IsURL reports whether a text is a file URL.
func IsURL(text string) bool { return fileURL.MatchString(text) }

// of returns a path with its forms. They are folded once and compared with many patterns.
func of(text string, unclear bool, forms []string) Path {
	p := Path{Text: text, Unclear: unclear, forms: forms, folded: make([]string, len(forms))}
	for i, form := range forms {
		p.folded[i] = folded(form)
	}
	return p
}

// ofHome returns a path relative to a user's home. If it leaves the home, it may be in any
// directory that contains homes.
func ofHome(text, from string) Path {
	if outside(from) {
		return of(text, true, []string{path.Clean("/home/eve/" + from), path.Clean("/root/" + from)})
	}
	return of(text, false, []string{path.Join("~", from)})
}

func outside(path string) bool { return path == ".." || strings.HasPrefix(path, "../") }

// rooted reports whether a path is independent of a working directory.
func rooted(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || drive.MatchString(text)
}

// slashes converts the separators of a Windows path.
func slashes(text string) string {
	if drive.MatchString(text) || !strings.Contains(text, "/") {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	return text
}

// homeForm returns a path below a home directory in its form with ~, or "".
func homeForm(text string) string {
	at := homes.FindStringIndex(text)
	if at == nil {
		return ""
	}
	return strings.TrimSuffix("~/"+text[at[1]:], "/")
}

// Name returns the path as people see it.
func (p Path) Name() string {
	if len(p.forms) == 0 {
		return p.Text
	}
	return p.forms[0]
}

// Below reports whether the path is a directory or in it. If the directory is unknown, it reports
// whether the path is relative.
func (p Path) Below(dir Path) bool {
	name := p.Name()
	if dir.Text == "" {
		return !p.Unclear && !rooted(name)
	}
	return !p.Unclear && slices.ContainsFunc(dir.forms, func(form string) bool {
		return name == form || strings.HasPrefix(name, strings.TrimSuffix(form, "/")+"/")
	})
}

// MayBe reports whether a pattern that forbids may match the path. It ignores case, as many file
// systems do.
func (p Path) MayBe(pattern Pattern) bool {
	for _, form := range p.folded {
		if match(pattern.lower, form) || strings.HasPrefix(form, "~") && match(pattern.homes, form) {
			return true
		}
	}
	return false
}

// sameLetters replaces letters by others that file systems of macOS treat as equal.
var sameLetters = strings.NewReplacer("ſ", "s", "ß", "ss", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// ignored matches what Windows ignores at the end of a name: dots, spaces and a stream.
var ignored = regexp.MustCompile(`([^/. ])(?:::?\$data|[. ]+)(/|$)`)

// seen drops the characters that file systems of macOS ignore.
func seen(r rune) rune {
	if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
		return -1
	}
	return r
}

// folded returns a path in lower case, as the least exact file systems read it.
func folded(form string) string {
	form = strings.ToLower(form)
	if strings.ContainsFunc(form, func(r rune) bool { return r > unicode.MaxASCII }) {
		form = sameLetters.Replace(strings.Map(seen, form))
	}
	return ignored.ReplaceAllString(form, "$1$2")
}

// Is reports whether a pattern that allows certainly matches the path. It respects case.
func (p Path) Is(pattern Pattern) bool {
	return !p.Unclear && slices.ContainsFunc(p.forms, func(form string) bool {
		return (rooted(form) || strings.HasPrefix(pattern.text, "**/")) && match(pattern.globs, form)
	})
}

// KeepsSettings reports whether a path is a home directory, or a hidden directory, as those for
// settings are.
func (p Path) KeepsSettings() bool {
	for _, form := range p.folded {
		if base := path.Base(form); base == "~" || len(base) > 1 && base[0] == '.' && base != ".." {
			return true
		}
	}
	return false
}
