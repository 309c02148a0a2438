package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// noteFetched records the directory that a command fills with files from elsewhere: the name of a
// cloned repository, or "." for unknown names.
func (f *files) noteFetched(c Command) {
	var words []Word
	for _, w := range c.Args() {
		if !strings.HasPrefix(w.Text, "-") {
			words = append(words, w)
		}
	}
	at := slices.IndexFunc(words, func(w Word) bool { return w.Text == "clone" || w.Text == "checkout" || w.Text == "co" })
	if c.Name() == "git" && at < 0 && c.Verb() == "submodule" || c.Name() == "go" && c.Verb() == "get" {
		at = slices.IndexFunc(words, func(w Word) bool { return w.Text == "add" || w.Text == "get" })
	}
	switch name := c.Name(); {
	case name == "go" && (at < 0 || at+1 < len(words) && strings.HasPrefix(words[at+1].Text, ".")):
		return
	case at >= 0 && (words[at].Text == "add" || words[at].Text == "get"):
	case name == "degit":
		at = 0
		words = append([]Word{{}}, words...)
	case at < 0, name == "svn", name == "hg" && words[at].Text == "clone", (name == "git" || name == "gh" || name == "glab") && words[at].Text == "clone":
	default:
		return
	}
	if at < 0 || at+1 >= len(words) {
		return
	}
	for _, w := range words[at+1:] { // the source or the destination; an option's value does no harm
		f.fetched = append(f.fetched, strings.TrimSuffix(path.Base(strings.TrimSuffix(w.Text, "/")), ".git"))
	}
}

// unpack records the directories that unpacking archives probably creates.
func (f *files) unpack(words []Word) {
	f.unpacked = true
	for _, w := range words {
		if name := archive.ReplaceAllString(path.Base(w.Text), ""); name != path.Base(w.Text) {
			f.fetched = append(f.fetched, name)
		}
	}
}

var archive = regexp.MustCompile(`(\.tar)?\.(gz|tgz|bz2|tbz|xz|zst|zip|tar|7z)$`)

// foreign reports whether a command runs in, or names, a directory that the line fetched.
func (f *files) foreign(c Command) bool {
	switch {
	case f.unpacked && len(c.Dirs) != 1: // it may be in a directory of the archive
		return true
	case len(f.fetched) == 0:
		return false
	case c.Dirs == nil || slices.Contains(f.fetched, "."):
		return true
	}
	within := func(text string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '=' }), func(name string) bool {
			return slices.Contains(f.fetched, name)
		})
	}
	return slices.ContainsFunc(c.Dirs, within) || slices.ContainsFunc(c.Words, func(w Word) bool { return within(w.Text) })
}
