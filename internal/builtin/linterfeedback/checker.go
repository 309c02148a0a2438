package linterfeedback

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/shorten"
)

const (
	maxRunning  = 4       // linters at once
	maxFileSize = 4 << 20 // bytes; a larger file is not linted
	maxPath     = 4096    // bytes; no system opens a longer one
	maxFindings = 4096    // per file; further ones are ignored
	maxFinding  = 400     // characters of a finding that are shown
)

// checker lints files below a root. Except for slots, it does not change after prepare.
type checker struct {
	missing []string // the default linters that are not installed
	root    string   // absolute, symbolic links resolved
	linters []linter
	slots   chan struct{} // one element per running linter
}

// linter is a Linter with the path of its program.
type linter struct {
	Linter
	program string
}

// finding is one line of a linter's output.
type finding struct {
	linter string // its command line
	text   string
}

// locate returns the path of a file relative to the root, with symbolic links resolved. inside is
// false for a file outside the root. The file need not exist.
func (c *checker) locate(cwd, name string) (rel string, inside bool) {
	switch {
	case filepath.IsAbs(name):
	case filepath.IsAbs(cwd):
		name = filepath.Join(cwd, name)
	default:
		name = filepath.Join(c.root, name)
	}
	if name = filepath.Clean(name); len(name) > maxPath {
		return "", false
	}
	existing := name
	for !there(existing) && existing != filepath.Dir(existing) {
		existing = filepath.Dir(existing)
	}
	real, err := filepath.EvalSymlinks(existing)
	if err != nil {
		return "", false // a dangling link: the target of a write is unknown
	}
	rel, err = filepath.Rel(c.root, filepath.Join(real, name[len(existing):]))
	return rel, err == nil && filepath.IsLocal(rel)
}

// there reports whether a path exists, even as a dangling link.
func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// lint runs the linters for a file; known reports whether there are any. A file that is missing,
// too large or not regular has no findings.
func (c *checker) lint(ctx context.Context, rel string) (all []finding, known bool, err error) {
	for _, l := range c.linters {
		if !l.isFor(rel) {
			continue
		}
		known = true
		if info, err := os.Lstat(filepath.Join(c.root, rel)); err != nil || !info.Mode().IsRegular() || info.Size() > maxFileSize {
			continue
		}
		found, err := c.run(ctx, l, rel)
		if err != nil {
			return nil, true, err
		}
		all = append(all, found...)
	}
	return all[:min(len(all), maxFindings)], known, nil
}

func (l linter) isFor(rel string) bool {
	return slices.ContainsFunc(l.Files, func(pattern string) bool {
		name := path.Base(rel)
		if strings.Contains(pattern, "/") {
			name = rel
		}
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

func (c *checker) run(ctx context.Context, l linter, rel string) ([]finding, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("run %s: %d linters run already: %w", l.Command[0], maxRunning, context.Cause(ctx))
	}
	place := strings.NewReplacer("{file}", "./"+rel, "{dir}", "./"+path.Dir(rel)) // so that a file name is never read as a flag
	args := make([]string, len(l.Command)-1)
	for i, arg := range l.Command[1:] {
		args[i] = place.Replace(arg)
	}
	out, err := process.Program{Path: l.program, Args: args, Dir: c.root, Env: process.Environ(process.DefaultEnv, "NO_COLOR=1"), Both: true}.Run(ctx)
	if err != nil {
		return nil, err
	}
	isFinding := out.Code != 126 && out.Code != 127
	if l.Codes != nil {
		isFinding = slices.Contains(l.Codes, out.Code)
	}
	switch {
	case out.Code == 0 && !out.Cut && !l.AnyOutput:
		return nil, nil
	case out.Code != 0 && !out.Cut && !isFinding:
		return nil, fmt.Errorf("run %s: it could not lint: exit code %d", l.Command[0], out.Code)
	}
	name := strings.Join(append([]string{l.Command[0]}, args...), " ")
	var all []finding
	for line := range strings.Lines(string(out.Text)) {
		if text := printable(line); text != "" {
			all = append(all, finding{name, text})
		}
	}
	if len(all) == 0 && out.Code != 0 {
		all = []finding{{name, "it has findings, and does not say which"}}
	}
	return all, nil
}

// printable returns a line of output without control characters and cut to maxFinding.
func printable(line string) string {
	text := strings.TrimRightFunc(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(line, "?")), unicode.IsSpace)
	return shorten.Runes(text, maxFinding, "…")
}
