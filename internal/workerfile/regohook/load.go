package regohook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/ast"
	opaloader "github.com/open-policy-agent/opa/v1/loader"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// loader reads policies.
type loader struct {
	dir          string
	capabilities *ast.Capabilities
	version      ast.RegoVersion
}

// policies are loaded policies: the modules by name, the data, and the field that named them.
type policies struct {
	modules map[string]*ast.Module
	data    map[string]any
	at      jsontext.Pointer
}

func (l loader) load(c Config) (policies, error) {
	given := 0
	for _, is := range [...]bool{c.Policy != "", len(c.Files) > 0, c.Bundle != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return policies{}, kind.At("", "must have one of policy, files and bundle, not %d of them", given)
	case c.Policy != "":
		return l.text(c.Policy)
	case c.Bundle != "":
		return l.bundle(c.Bundle)
	}
	return l.files(c.Files)
}

func (l loader) text(text string) (policies, error) {
	module, err := ast.ParseModuleWithOpts("", text, ast.ParserOptions{RegoVersion: l.version, Capabilities: l.capabilities})
	if err != nil {
		return policies{}, l.positioned("/policy", err)
	}
	if module == nil {
		return policies{}, kind.At("/policy", "is empty: it begins with a package, such as package hooks")
	}
	return policies{map[string]*ast.Module{"": module}, map[string]any{}, "/policy"}, nil
}

func (l loader) files(names []string) (policies, error) {
	paths := make([]string, len(names))
	for i, name := range names {
		at := jsontext.Pointer(fmt.Sprintf("/files/%d", i))
		paths[i] = l.path(name)
		if _, err := os.Stat(paths[i]); err != nil {
			return policies{}, kind.At(at, "read it: %w", err)
		}
	}
	result, err := l.fileLoader().Filtered(paths, nil)
	if err != nil {
		return policies{}, l.positioned("/files", err)
	}
	return policies{result.ParsedModules(), result.Documents, "/files"}, nil
}

func (l loader) bundle(name string) (policies, error) {
	path := l.path(name)
	if _, err := os.Stat(path); err != nil {
		return policies{}, kind.At("/bundle", "read it: %w", err)
	}
	b, err := l.fileLoader().AsBundle(path)
	if err != nil {
		if strings.HasSuffix(err.Error(), "verification key not provided") { // the error has no type
			return policies{}, kind.At("/bundle", "%s is signed, and no key to verify it can be given here: verify it where it is fetched, and give the hook an unsigned one", name)
		}
		return policies{}, l.positioned("/bundle", err)
	}
	return policies{b.ParsedModules(name), b.Data, "/bundle"}, nil
}

// read returns the files and directories that the policies were loaded from: those that the
// configuration names, and everything below them.
func (c Config) read(w kind.Worker) (files []string) {
	names := c.Files
	if c.Bundle != "" {
		names = []string{c.Bundle}
	}
	for _, name := range names {
		root := w.Path(name)
		if info, err := os.Stat(root); err == nil && info.IsDir() {
			root += "/." // to follow a symbolic link
		}
		_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				files = append(files, filepath.Clean(path))
			}
			return nil // they were read before
		})
	}
	return files
}

func (l loader) fileLoader() opaloader.FileLoader {
	return opaloader.NewFileLoader().WithRegoVersion(l.version).WithCapabilities(l.capabilities)
}

func (l loader) path(name string) string { return kind.Worker{Dir: l.dir}.Path(name) }

// relative returns the path of a file relative to the worker file, if the file is below its
// directory.
func (l loader) relative(file string) string {
	if rest, err := filepath.Rel(l.dir, file); err == nil && !strings.HasPrefix(rest, "..") && filepath.IsAbs(file) {
		return rest
	}
	return file
}

// positioned converts OPA's errors to errors at a field: placed in the text of an inline policy, or
// with file, line and column.
func (l loader) positioned(at jsontext.Pointer, err error) error {
	found := problems(err)
	if len(found) == 0 {
		return &kind.FieldError{Pointer: at, Err: err}
	}
	if first := found[0]; first.Location == nil || first.Location.File != "" {
		return l.problem(at, first, len(found)-1)
	}
	all := make([]error, len(found))
	for i, one := range found {
		all[i] = l.problem(at, one, 0)
	}
	return errors.Join(all...)
}

// problem converts one of OPA's errors to an error at a field; more is the number of further ones.
func (l loader) problem(at jsontext.Pointer, one *ast.Error, more int) error {
	text := one.Code + ": " + one.Message + memberHint(one)
	for _, name := range networked {
		if strings.HasSuffix(one.Message, "undefined function "+name) {
			text += ": the network is off, unless allow_net names the hosts to reach"
		}
	}
	if strings.Contains(one.Message, "keyword is required") {
		text += ": write deny contains msg if { ... }, or say v0: true for the syntax before OPA 1.0"
	}
	if more > 0 {
		text = fmt.Sprintf("%s (and %d more)", text, more)
	}
	return l.placed(at, one.Location, text)
}

// placed returns an error at a field, for a place in the policies.
func (l loader) placed(at jsontext.Pointer, place *ast.Location, text string) *kind.FieldError {
	switch {
	case place == nil:
		return kind.At(at, "%s", text)
	case place.File == "":
		return &kind.FieldError{Pointer: at, Line: place.Row, Column: place.Col, Err: errors.New(text)}
	}
	return kind.At(at, "%s:%d:%d: %s", l.relative(place.File), place.Row, place.Col, text)
}

// problems returns the errors with a place in err.
func problems(err error) []*ast.Error {
	if many, ok := errors.AsType[ast.Errors](err); ok {
		return many
	}
	if many, ok := errors.AsType[opaloader.Errors](err); ok {
		var all []*ast.Error
		for _, one := range many {
			all = append(all, problems(one)...)
		}
		return all
	}
	if one, ok := errors.AsType[*ast.Error](err); ok {
		return []*ast.Error{one}
	}
	return nil
}
