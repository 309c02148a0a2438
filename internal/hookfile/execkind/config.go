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

	"github.com/hookrouter/hookrouter/internal/hookfile/claudecode"
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
	// with a slash in it is found from Dir, any other in PATH. In dialect claude-code
	// it may be a text: a line for sh.
	Command Command `json:"command"`
	// Dialect is how the command is spoken to: empty for an event and a HookResult, or
	// [ClaudeCode].
	Dialect string `json:"dialect"`
	// Matcher says which events the command is asked about, as in the settings of
	// Claude Code; only in that dialect. Empty means all.
	Matcher string `json:"matcher"`
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
	cmd := &command{
		dir:       dir,
		env:       c.Env,
		maxOutput: cmp.Or(c.MaxOutput, DefaultMaxOutput),
		slots:     make(chan struct{}, cmp.Or(c.Concurrency, DefaultConcurrency)),
	}
	if cmd.env == nil {
		cmd.env = DefaultEnv
	}
	for i, name := range cmd.env {
		if name == "" || strings.ContainsAny(name, "= \x00") {
			return nil, kind.At(jsontext.Pointer(fmt.Sprintf("/env/%d", i)), "must be the name of a variable that the worker has, not %q: values are not written here", name)
		}
	}
	if err := cmd.choose(c); err != nil {
		return nil, err
	}
	if err := cmd.find(c.Command); err != nil {
		return nil, err
	}
	return cmd.handle, nil
}

// Build builds a hook from a section of a worker file.
func Build(s kind.Section, c Config) (kind.Hook, error) {
	c.Base = s.Worker.Dir
	handler, err := New(c)
	if err != nil {
		return kind.Hook{}, err
	}
	if c.Dialect == ClaudeCode {
		for _, pattern := range s.Registration.Events {
			if !strings.HasSuffix(pattern, "*") && !claudecode.Known(pattern) {
				return kind.Hook{}, kind.At("/dialect", "Claude Code has no hook for the event %s, so the command would never run", pattern)
			}
		}
	}
	return kind.Hook{Handler: handler, Acts: true}, nil
}

// choose sets the dialect.
func (c *command) choose(config Config) error {
	switch config.Dialect {
	case "":
		if config.Matcher != "" {
			return kind.At("/matcher", "belongs to dialect: %s; here the match of the hook says which events it is for", ClaudeCode)
		}
		if _, isLine := config.Command.line(); isLine {
			return errNoCommand
		}
		c.speak = speakPlain
	case ClaudeCode:
		matcher, err := claudecode.ParseMatcher(config.Matcher)
		if err != nil {
			return &kind.FieldError{Pointer: "/matcher", Err: err}
		}
		c.speak = speakClaude(matcher, c.dir)
		c.set = []string{"CLAUDE_PROJECT_DIR=" + c.dir}
	default:
		return kind.At("/dialect", "there is no dialect %q: known is %s; without one the command answers a HookResult", config.Dialect, ClaudeCode)
	}
	return nil
}

// find sets the program and its arguments.
func (c *command) find(given Command) (err error) {
	if line, isLine := given.line(); isLine {
		if strings.TrimSpace(line) == "" {
			return errNoCommand
		}
		if file := scriptOf(line, c.dir); file != "" {
			if _, err := findProgram(c.dir, file); err != nil {
				return &kind.FieldError{Pointer: "/command", Err: err}
			}
		}
		c.args = []string{"sh", "-c", line}
		if c.program, err = findProgram(c.dir, "sh"); err != nil {
			return &kind.FieldError{Pointer: "/command", Err: err}
		}
		return nil
	}
	if len(given) == 0 || given[0] == "" {
		return errNoCommand
	}
	c.args = given
	if c.program, err = findProgram(c.dir, given[0]); err != nil {
		return &kind.FieldError{Pointer: "/command/0", Err: err}
	}
	return nil
}

var errNoCommand = kind.At("/command", `must be a list: the program and its arguments, such as ["./lint.sh", "--fast"]`)

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
