package execkind

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
)

// Defaults and limits of a [Config].
const (
	DefaultMaxOutput   = 256 << 10 // bytes of standard output
	DefaultConcurrency = 4         // commands at once
	maxMaxOutput       = 16 << 20
	maxConcurrency     = 1024
)

// DefaultEnv are the variables that a command sees where the configuration lists
// none. They are names, not values.
var DefaultEnv = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Config is the section exec of a hook.
type Config struct {
	// Command is the program and its arguments; no shell is involved. A program
	// with a slash in it is found from Dir, any other in PATH.
	Command []string `json:"command"`
	// Env are the names of the variables that the command sees; nil means
	// [DefaultEnv].
	Env []string `json:"env"`
	// Dir is where the command runs, found from Base; empty means Base.
	Dir string `json:"dir"`
	// MaxOutput bounds the command's standard output, in bytes; 0 means
	// [DefaultMaxOutput].
	MaxOutput int `json:"max_output"`
	// Concurrency is how many commands run at once; 0 means [DefaultConcurrency].
	Concurrency int `json:"concurrency"`

	// Base is the directory that Dir is found from, such as the one of the file
	// that the configuration stands in; empty means the working directory.
	Base string `json:"-"`
}

// New checks the configuration and finds the command. The error is a
// [*kind.FieldError].
func New(c Config) (kind.Handler, error) {
	if len(c.Command) == 0 || c.Command[0] == "" {
		return nil, kind.At("/command", `must be a list: the program and its arguments, such as ["./lint.sh", "--fast"]`)
	}
	for _, limit := range [...]struct {
		name       string
		value, max int
	}{{"max_output", c.MaxOutput, maxMaxOutput}, {"concurrency", c.Concurrency, maxConcurrency}} {
		if limit.value < 0 || limit.value > limit.max {
			return nil, kind.At(jsontext.Pointer("/"+limit.name), "must be 1 to %d, not %d", limit.max, limit.value)
		}
	}
	dir, err := findDir(c)
	if err != nil {
		return nil, err
	}
	program, err := findProgram(dir, c.Command[0])
	if err != nil {
		return nil, &kind.FieldError{Pointer: "/command/0", Err: err}
	}
	env := c.Env
	if env == nil {
		env = DefaultEnv
	}
	for i, name := range env {
		if name == "" || strings.ContainsAny(name, "= \x00") {
			return nil, kind.At(jsontext.Pointer(fmt.Sprintf("/env/%d", i)), "must be the name of a variable that the worker has, not %q: values are not written here", name)
		}
	}
	cmd := &command{
		program:   program,
		args:      c.Command,
		dir:       dir,
		env:       env,
		maxOutput: cmp.Or(c.MaxOutput, DefaultMaxOutput),
		slots:     make(chan struct{}, cmp.Or(c.Concurrency, DefaultConcurrency)),
	}
	return cmd.handle, nil
}

func findDir(c Config) (string, error) {
	dir := c.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Base, dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", kind.At("/dir", "find directory: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", kind.At("/dir", "%s is no directory", dir)
	}
	return dir, nil
}

// findProgram returns the absolute path of an executable.
func findProgram(dir, name string) (string, error) {
	lookFor := name
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		lookFor = filepath.Join(dir, name)
	}
	path, err := exec.LookPath(lookFor)
	switch {
	case err == nil:
		return filepath.Abs(path)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s: no such program in PATH; a program beside the file begins with ./", name)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: there is no such file", lookFor)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%s: it is not executable: chmod +x it", lookFor)
	}
	return "", fmt.Errorf("%s: %w", lookFor, err)
}
