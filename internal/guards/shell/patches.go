package shell

import (
	"slices"
	"strings"
)

// ownPatches are programs whose patches only touch files that the project has.
var ownPatches = []string{"git", "diff"}

// patches analyzes the patch that git apply, git am or patch is given, which names the files that
// are written. A patch that the line writes in full is read; one that it creates otherwise may name
// any file.
func (s source) patches(c *Command, name string, ctx context) {
	if verb := c.Verb(); name == "git" && verb != "apply" && verb != "am" {
		return
	}
	given := slices.DeleteFunc(slices.Clone(c.Args()), func(w Word) bool { return strings.HasPrefix(w.Text, "-") })
	if f := ctx.feed; f != nil && f.file == "" {
		s.fedPatch(c, f)
	} else if f != nil {
		given = append(given, Word{Text: f.file, Known: true})
	}
	for _, w := range given {
		if text, ok := s.files.text(w); ok {
			c.Redirects = append(slices.Clip(c.Redirects), Redirect{Here: Word{Text: text, Known: true}})
		} else if !areOwn(s.files.made(w.Text)) {
			c.doubt("which files a patch names that the same line makes: " + clip(w.Text))
		}
	}
}

// fedPatch analyzes a patch that a command reads from a pipe or a here-document.
func (s source) fedPatch(c *Command, f *feed) {
	switch {
	case f.known && len(f.from) > 0:
		c.Redirects = append(slices.Clip(c.Redirects), Redirect{Here: Word{Text: f.text, Known: true}})
	case !f.known && (len(f.from) == 0 || !areOwn(f.from)):
		c.doubt("which files a patch names that " + c.Name() + " reads")
	}
}

func areOwn(by []string) bool {
	return !slices.ContainsFunc(by, func(name string) bool { return !slices.Contains(ownPatches, name) })
}
