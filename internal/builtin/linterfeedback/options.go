package linterfeedback

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Only says which findings the agent is told.
type Only string

// The values of [Only]. The zero Only means [OnlyChanged].
const (
	OnlyChanged Only = "changed" // those that the file did not have before
	OnlyAll     Only = "all"     // all, after each change
)

// DefaultMaxLines is the default limit of findings in one result.
const DefaultMaxLines = 40

const maxMaxLines = 500

// Options of the builtin. The zero Options are its defaults.
type Options struct {
	// Linters are the linters, in the order they run in; nil means those of
	// [DefaultLinters] that the machine has.
	Linters []Linter `json:"linters"`
	// Root is the directory below which files are linted, and where linters run; it is
	// found from the worker's directory, which it is where it is empty.
	Root string `json:"root"`
	// Only is changed, for the findings that a change brought, or all; empty means
	// changed.
	Only Only `json:"only"`
	// MaxLines bounds the findings of one result; 0 means [DefaultMaxLines].
	MaxLines int `json:"max_lines"`
}

// Linter is a program and the files that it is for.
type Linter struct {
	// Files are patterns of names such as *.go, or of paths from the root where they
	// have a slash.
	Files []string `json:"files"`
	// Command is the program and its arguments. In these {file} is the file's path from
	// the root and {dir} that of its directory, both beginning with ./; one of them
	// must be there. No shell is involved.
	Command []string `json:"command"`
	// Codes are the exit codes that mean findings; any other but 0 means that the
	// linter failed. Nil means all but 126 and 127.
	Codes []int `json:"codes"`
	// AnyOutput takes output for findings even where the exit code is 0.
	AnyOutput bool `json:"any_output"`
}

// defaultLinters returns the linters for options without linters. They do not run programs that the
// linted directory configures.
func defaultLinters() []Linter {
	return []Linter{
		{Files: []string{"*.go"}, Command: []string{"gofmt", "-l", "-e", "{file}"}, AnyOutput: true},
		{Files: []string{"*.py"}, Command: []string{"ruff", "check", "--no-cache", "--quiet", "--output-format", "concise", "{file}"}, Codes: []int{1}},
		{Files: []string{"*.sh", "*.bash"}, Command: []string{"shellcheck", "--norc", "-f", "gcc", "{file}"}, Codes: []int{1}},
	}
}

// prepare checks the options and finds the linters' programs.
func (o Options) prepare(dir string) (*checker, error) {
	if o.Only != "" && o.Only != OnlyChanged && o.Only != OnlyAll {
		return nil, kind.At("/only", "must be changed or all, not %q", o.Only)
	}
	if o.MaxLines < 0 || o.MaxLines > maxMaxLines {
		return nil, kind.At("/max_lines", "must be 1 to %d, not %d", maxMaxLines, o.MaxLines)
	}
	for i, l := range o.Linters {
		if err := l.check(pointer(i)); err != nil {
			return nil, err
		}
	}
	root, err := findRoot(dir, o.Root)
	if err != nil {
		return nil, kind.Lacks("/root", err)
	}
	c := &checker{root: root, slots: make(chan struct{}, maxRunning)}
	if o.Linters == nil {
		c.addDefaults()
		return c, nil
	}
	for i, l := range o.Linters {
		path, err := process.Find(dir, l.Command[0])
		if err != nil {
			return nil, kind.Lacks(pointer(i)+"/command/0", err)
		}
		c.linters = append(c.linters, linter{l, path})
	}
	return c, nil
}

// pointer returns the JSON pointer to a linter in the options.
func pointer(i int) jsontext.Pointer { return jsontext.Pointer(fmt.Sprintf("/linters/%d", i)) }

func (l Linter) check(at jsontext.Pointer) error {
	if len(l.Files) == 0 {
		return kind.At(at+"/files", `is missing: give patterns such as ["*.go"]`)
	}
	for i, pattern := range l.Files {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return kind.At(jsontext.Pointer(fmt.Sprintf("%s/files/%d", at, i)), "%q is not a pattern such as *.go or web/*.ts", pattern)
		}
	}
	if len(l.Command) == 0 || !slices.ContainsFunc(l.Command[1:], func(arg string) bool { return strings.Contains(arg, "{file}") || strings.Contains(arg, "{dir}") }) {
		return kind.At(at+"/command", `must be a list, the program and its arguments, with the file in it: ["gofmt", "-l", "{file}"]`)
	}
	for i, code := range l.Codes {
		if code < 1 || code > 255 {
			return kind.At(jsontext.Pointer(fmt.Sprintf("%s/codes/%d", at, i)), "must be 1 to 255, not %d", code)
		}
	}
	return nil
}

func (c *checker) addDefaults() {
	for _, l := range defaultLinters() {
		path, err := process.Find("", l.Command[0])
		if err != nil {
			c.missing = append(c.missing, l.Command[0])
			continue
		}
		c.linters = append(c.linters, linter{l, path})
	}
}

// findRoot returns the absolute root with symbolic links resolved.
func findRoot(dir, root string) (string, error) {
	if !filepath.IsAbs(root) {
		root = filepath.Join(dir, root)
	}
	path, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("%s is not a directory", root)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", root)
	}
	return path, nil
}
