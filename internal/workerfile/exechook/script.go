package exechook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/process"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// interpreters are the programs that run the script given as their first argument. Some exit with
// code 2 if the script is missing or unreadable, which the dialect claude-code takes for a denial,
// so the script is checked first.
var interpreters = map[string]struct{ shell bool }{
	"sh": {shell: true}, "bash": {shell: true}, "dash": {shell: true}, "zsh": {shell: true}, "ksh": {shell: true},
	"python": {}, "python3": {}, "node": {}, "bun": {}, "ruby": {}, "perl": {}, "php": {},
}

// pathWord matches a word of a line that can only be a path, once variables are expanded and quotes
// removed.
var pathWord = regexp.MustCompile(`^[A-Za-z0-9_./+@-]*$`)

// directories replaces the spellings of the project directory and of the home directory. A tilde at
// the beginning of a word also means the home directory.
var directories = strings.NewReplacer(`"`, "",
	"${CLAUDE_PROJECT_DIR}", "\x00", "$CLAUDE_PROJECT_DIR", "\x00", "${HOME}", "\x01", "$HOME", "\x01")

// wordsOf returns the leading words of a line that are clearly a program and its script, with those
// directories expanded. It stops before a word that only a shell can interpret.
func wordsOf(line, dir string) []string {
	var words []string
	for word := range strings.FieldsSeq(line) {
		if rest, isHome := strings.CutPrefix(word, "~/"); isHome {
			word = "$HOME/" + rest
		}
		rest := directories.Replace(word)
		base := ""
		switch {
		case strings.HasPrefix(rest, "\x00"):
			base, rest = dir, rest[1:]
		case strings.HasPrefix(rest, "\x01"):
			base, rest = os.Getenv("HOME"), rest[1:]
		}
		if rest == "" || !pathWord.MatchString(rest) {
			break
		}
		words = append(words, base+rest)
	}
	return words
}

// scriptOf returns the path of the script that a program and its arguments run, and its
// interpreter. Both are empty if there is no script, or it is unknown.
func scriptOf(words []string, dir string) (script, interpreter string) {
	at := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	if len(words) == 0 {
		return "", ""
	}
	if _, known := interpreters[filepath.Base(words[0])]; known {
		if len(words) == 1 || strings.HasPrefix(words[1], "-") {
			return "", ""
		}
		return at(words[1]), words[0]
	}
	if strings.Contains(words[0], "/") {
		if interpreter = process.Interpreter(at(words[0])); interpreter != "" {
			return at(words[0]), interpreter
		}
	}
	return "", ""
}

// checkScript returns an error if a script can't run: it does not exist, or its shell can't parse
// it. It checks with the shell in PATH, since the configuration may not be allowed to run another
// one.
func checkScript(words []string, dir string) (script string, err error) {
	script, interpreter := scriptOf(words, dir)
	if script == "" {
		return "", nil
	}
	if err := there(script); err != nil {
		return "", &kind.MachineError{Err: err}
	}
	shell := filepath.Base(interpreter)
	if !interpreters[shell].shell {
		return script, nil
	}
	if _, err := findProgram(dir, interpreter); err != nil {
		return script, err
	}
	if _, err := process.Find(dir, shell); err != nil {
		return script, nil //nolint:nilerr // it complains when it runs
	}
	return script, checkSyntax(dir, shell, script)
}

// findProgram finds a program. A missing one is a [kind.MachineError].
func findProgram(dir, name string) (string, error) {
	path, err := process.Find(dir, name)
	if err != nil {
		err = &kind.MachineError{Err: err}
	}
	return path, err
}

func there(script string) error {
	info, err := os.Stat(script)
	switch {
	case err != nil:
		return fmt.Errorf("%s: there is no such file", script)
	case info.IsDir():
		return fmt.Errorf("%s: it is a directory", script)
	}
	return nil
}

// shellTime bounds how long a shell may take to check a script.
const shellTime = 5 * time.Second

// checkProgram returns an error if the program of a line does not exist. A program without a slash
// may be built into the shell.
func checkProgram(dir, sh, name string) error {
	if strings.Contains(name, "/") {
		_, err := findProgram(dir, name)
		return err
	}
	if err := ask(dir, sh, "-c", `command -v -- "$1" >&2`, "sh", name); err != nil {
		_, err := findProgram(dir, name)
		return err
	}
	return nil
}

// checkSyntax makes a shell parse a script, or a line after -c, without running it.
func checkSyntax(dir, shell string, args ...string) error {
	path, err := findProgram(dir, shell)
	if err != nil {
		return err
	}
	return ask(dir, path, append([]string{"-n"}, args...)...)
}

// ask runs a shell for its exit code. The error has what the shell wrote to standard error.
func ask(dir, shell string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), shellTime)
	defer cancel()
	stderr := &excerpt{}
	check := process.Program{Path: shell, Args: args, Dir: dir, Env: process.Environ(process.DefaultEnv), Stderr: stderr}
	out, err := check.Run(ctx)
	switch {
	case err != nil:
		return err
	case out.Code != 0:
		return errors.New(cmp.Or(stderr.firstLine(), fmt.Sprintf("exit status %d", out.Code)))
	}
	return nil
}
