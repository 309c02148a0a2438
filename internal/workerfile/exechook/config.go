package exechook

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/workerfile/claudescript"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// The defaults and limits of a [Config].
const (
	DefaultMaxOutput   = process.DefaultMaxOutput // bytes of standard output
	DefaultConcurrency = 4                        // commands at once
	DefaultStartup     = 10_000                   // milliseconds
	maxMaxOutput       = 16 << 20
	maxConcurrency     = 1024
	maxStartup         = 600_000
)

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
	// Env are the names of the variables that the command sees besides PATH, HOME, LANG,
	// TZ and TMPDIR.
	Env []string `json:"env"`
	// Dir is where the command runs, found from Base; empty means Base.
	Dir string `json:"dir"`
	// MaxOutput bounds the command's standard output, in bytes; 0 means
	// [DefaultMaxOutput]. Of a resident command it bounds each line.
	MaxOutput int `json:"max_output"`
	// Concurrency is how many commands run at once; 0 means [DefaultConcurrency]. Of a
	// resident command it is how many calls it may have open at once; 0 means one.
	Concurrency int `json:"concurrency"`
	// Resident starts the command once, and sends it each event as a line; only for hooks
	// of a worker, see [Build].
	Resident bool `json:"resident"`
	// StartupMS is what the first answer of a resident command may take, from its start, in
	// milliseconds; 0 means [DefaultStartup].
	StartupMS int `json:"startup_ms"`

	// Base is the directory that Dir is found from, such as the one of the file
	// that the configuration stands in; empty means the working directory.
	Base string `json:"-"`
}

// New checks the configuration and finds the command. It returns a [*kind.FieldError] on failure.
func New(c Config) (kind.Handler, error) {
	if c.Resident {
		return nil, kind.At("/resident", "only a hook of a worker file may have a command that is kept running")
	}
	cmd, err := newCommand(c)
	if err != nil {
		return nil, err
	}
	return cmd.handle, nil
}

func newCommand(c Config) (*command, error) {
	concurrency := DefaultConcurrency
	if c.Resident {
		concurrency = 1
	}
	if err := cmp.Or(
		kind.Range("/max_output", &c.MaxOutput, DefaultMaxOutput, 1, maxMaxOutput),
		kind.Range("/concurrency", &c.Concurrency, concurrency, 1, maxConcurrency),
		kind.Range("/startup_ms", &c.StartupMS, DefaultStartup, 1, maxStartup),
	); err != nil {
		return nil, err
	}
	dir, err := findDir(c)
	if err != nil {
		return nil, err
	}
	cmd := &command{
		program: process.Program{Dir: dir, MaxOutput: c.MaxOutput},
		env:     slices.Concat(process.DefaultEnv, c.Env),
		slots:   make(chan struct{}, c.Concurrency),
		startup: time.Duration(c.StartupMS) * time.Millisecond,
	}
	for i, name := range c.Env {
		if name == "" || strings.ContainsAny(name, "= \x00") {
			return nil, &kind.FieldError{Pointer: jsontext.Pointer(fmt.Sprintf("/env/%d", i)), Err: errEnv}
		}
	}
	if err := cmd.choose(c); err != nil {
		return nil, err
	}
	if err := cmd.find(c.Command); err != nil {
		return nil, err
	}
	return cmd, nil
}

// Build builds a hook from a section of a worker file.
func Build(s kind.Section, c Config) (kind.Hook, error) {
	c.Base = s.Worker.Dir
	if c.Dialect == ClaudeCode {
		if err := checkEvents(s.Registration.Events); err != nil {
			return kind.Hook{}, err
		}
	}
	cmd, err := newCommand(c)
	if err != nil {
		return kind.Hook{}, err
	}
	if c.Resident {
		return cmd.resident(s), nil
	}
	hook := kind.Hook{Handler: cmd.handle, Acts: true}
	if c.StartupMS != 0 {
		hook.Warnings = []error{kind.At("/startup_ms", "it counts only with resident: true")}
	}
	if c.Matcher != "" {
		hook.Wants = cmd.wants
	}
	return hook, nil
}

// checkEvents returns an error for an event for which Claude Code runs no hook.
func checkEvents(patterns []string) error {
	for _, pattern := range patterns {
		if strings.HasSuffix(pattern, "*") || claudescript.Known(pattern) {
			continue
		}
		if ours := claudescript.Events(pattern); len(ours) > 0 {
			return kind.At("/dialect", "events are named as here, not as in Claude Code: write %s, not %s", strings.Join(ours, " or "), pattern)
		}
		return kind.At("/dialect", "Claude Code has no hook for the event %s, so the command would never run", pattern)
	}
	return nil
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
		c.dialect = plainDialect
	case ClaudeCode:
		if config.Resident {
			return kind.At("/resident", "a script of Claude Code is started for each event: dialect and resident exclude each other")
		}
		matcher, err := claudescript.ParseMatcher(config.Matcher)
		if err != nil {
			return &kind.FieldError{Pointer: "/matcher", Err: err}
		}
		c.dialect = claudeDialect(matcher, c.program.Dir)
		c.set = []string{"CLAUDE_PROJECT_DIR=" + c.program.Dir}
	default:
		return kind.At("/dialect", "there is no dialect %q: known is %s; without one the command answers a HookResult", config.Dialect, ClaudeCode)
	}
	return nil
}

// find sets the program, its arguments and its script.
func (c *command) find(given Command) (err error) {
	if line, isLine := given.line(); isLine {
		if err := c.findLine(line); err != nil {
			return &kind.FieldError{Pointer: "/command", Err: err}
		}
		return nil
	}
	if len(given) == 0 || given[0] == "" {
		return errNoCommand
	}
	c.name, c.program.Args = given[0], given[1:]
	if c.program.Path, err = findProgram(c.program.Dir, given[0]); err != nil {
		return &kind.FieldError{Pointer: "/command/0", Err: err}
	}
	if c.script, err = checkScript(given, c.program.Dir); err != nil {
		at := jsontext.Pointer("/command/1")
		if strings.Contains(given[0], "/") {
			at = "/command/0"
		}
		return &kind.FieldError{Pointer: at, Err: err}
	}
	return nil
}

// findLine sets up a shell that runs a line.
func (c *command) findLine(line string) (err error) {
	if strings.TrimSpace(line) == "" {
		return errNoCommand.Err
	}
	dir := c.program.Dir
	c.name, c.program.Args = "sh", []string{"-c", line}
	if c.program.Path, err = findProgram(dir, "sh"); err != nil {
		return err
	}
	if err := checkSyntax(dir, "sh", "-c", line); err != nil {
		return err
	}
	words := wordsOf(line, dir)
	if len(words) > 0 {
		if err := checkProgram(dir, c.program.Path, words[0]); err != nil {
			return err
		}
	}
	c.script, err = checkScript(words, dir)
	return err
}

var errEnv = kind.Secret("must be the name of a variable that the worker has, such as TOKEN: values are not written here")

var errNoCommand = kind.At("/command", `must be a list: the program and its arguments, such as ["./lint.sh", "--fast"]`)

func findDir(c Config) (string, error) {
	dir := kind.Worker{Dir: c.Base}.Path(c.Dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", kind.Lacks("/dir", fmt.Errorf("%s is not a directory", dir))
	}
	return dir, nil
}
