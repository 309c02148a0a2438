package paths

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Path is a path in every form that patterns know it by.
type Path struct {
	// Text is as it was sent.
	Text string
	// Unclear says that its place is unknown: it begins with .., and what it starts from is
	// unknown too.
	Unclear bool
	forms   []string
	folded  []string // forms, folded
}

var (
	drive = regexp.MustCompile(`^[A-Za-z]:`)
	homes = regexp.MustCompile(`^(?i)(/home/[^/]+|/users/[^/]+|/root|/var/root|[a-z]:/users/[^/]+)(/|$)`)
	// fileURL is what precedes the path in file:///x, file://localhost/x and file:x.
	fileURL = regexp.MustCompile(`^(?i)file:(//(localhost|127\.0\.0\.1)?)?`)
	tilde   = regexp.MustCompile(`^~[^/]*`)
)

// Resolve finds a path from the directory cwd, which is empty where it is not known.
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

// ofURL is the path of a file's address, and any other text as it is.
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

// IsURL reports whether a text is the address of a file.
func IsURL(text string) bool { return fileURL.MatchString(text) }

// of is a path with its forms, which are folded once and compared with many patterns.
func of(text string, unclear bool, forms []string) Path {
	p := Path{Text: text, Unclear: unclear, forms: forms, folded: make([]string, len(forms))}
	for i, form := range forms {
		p.folded[i] = folded(form)
	}
	return p
}

// ofHome is a path from a user's home. Where it leads out of it, it may be in any
// place that homes are at.
func ofHome(text, from string) Path {
	if outside(from) {
		return of(text, true, []string{path.Clean("/home/eve/" + from), path.Clean("/root/" + from)})
	}
	return of(text, false, []string{path.Join("~", from)})
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

// Name is the path as people see it.
func (p Path) Name() string {
	if len(p.forms) == 0 {
		return p.Text
	}
	return p.forms[0]
}

// Below reports whether the path is in a directory, or is it. A directory that is not
// known has what is named without a root.
func (p Path) Below(dir Path) bool {
	name := p.Name()
	if dir.Text == "" {
		return !p.Unclear && !rooted(name)
	}
	return !p.Unclear && slices.ContainsFunc(dir.forms, func(form string) bool {
		return name == form || strings.HasPrefix(name, strings.TrimSuffix(form, "/")+"/")
	})
}

// MayBe reports whether a pattern that forbids has the path. Case doesn't count, since
// many file systems take no notice of it.
func (p Path) MayBe(pattern Pattern) bool {
	for _, form := range p.folded {
		if match(pattern.lower, form) || strings.HasPrefix(form, "~") && match(pattern.homes, form) {
			return true
		}
	}
	return false
}

// sameLetters are other spellings of letters, which file systems of macOS take for them.
var sameLetters = strings.NewReplacer("ſ", "s", "ß", "ss", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// ignored is what Windows leaves out at the end of a name: dots, spaces and a stream.
var ignored = regexp.MustCompile(`([^/. ])(?:::?\$data|[. ]+)(/|$)`)

// seen leaves out the characters that file systems of macOS take no notice of.
func seen(r rune) rune {
	if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
		return -1
	}
	return r
}

// folded is a path in lower case as the file systems that are least exact read it.
func folded(form string) string {
	form = strings.ToLower(form)
	if strings.ContainsFunc(form, func(r rune) bool { return r > unicode.MaxASCII }) {
		form = sameLetters.Replace(strings.Map(seen, form))
	}
	return ignored.ReplaceAllString(form, "$1$2")
}

// Is reports whether a pattern that allows has the path: all is certain, and case
// counts.
func (p Path) Is(pattern Pattern) bool {
	return !p.Unclear && slices.ContainsFunc(p.forms, func(form string) bool {
		return (rooted(form) || strings.HasPrefix(pattern.text, "**/")) && match(pattern.globs, form)
	})
}

// KeepsSettings reports whether a path is a home directory, or hidden as directories of
// settings are.
func (p Path) KeepsSettings() bool {
	for _, form := range p.folded {
		if base := path.Base(form); base == "~" || len(base) > 1 && base[0] == '.' && base != ".." {
			return true
		}
	}
	return false
}
