package execkind

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

	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/program"
)

// interpreters run the script that is their first argument. Some of them end with exit
// code 2 where it is missing or can't be read, which dialect claude-code takes for a
// denial: so this is looked at beforehand.
var interpreters = map[string]struct{ shell bool }{
	"sh": {shell: true}, "bash": {shell: true}, "dash": {shell: true}, "zsh": {shell: true}, "ksh": {shell: true},
	"python": {}, "python3": {}, "node": {}, "bun": {}, "ruby": {}, "perl": {}, "php": {},
}

// pathWord is a word of a line that can only be a path, once the variable of the
// project's directory is put in and the quotes are taken away.
var pathWord = regexp.MustCompile(`^[A-Za-z0-9_./+@-]*$`)

// wordsOf are the first words of a line that plainly are a program and its script, with
// the project's directory put in; it ends before a word that only a shell can read.
func wordsOf(line, dir string) []string {
	var words []string
	for word := range strings.FieldsSeq(line) {
		word = strings.NewReplacer(`"`, "", "${CLAUDE_PROJECT_DIR}", "\x00", "$CLAUDE_PROJECT_DIR", "\x00").Replace(word)
		rest, inProject := strings.CutPrefix(word, "\x00")
		if rest == "" || !pathWord.MatchString(rest) {
			break
		}
		if inProject {
			rest = dir + rest
		}
		words = append(words, rest)
	}
	return words
}

// scriptOf is the path of the script that a program and its arguments run; empty where
// there is none, or it is not known.
func scriptOf(words []string, dir string) string {
	if len(words) < 2 || strings.HasPrefix(words[1], "-") {
		return ""
	}
	if _, known := interpreters[filepath.Base(words[0])]; !known {
		return ""
	}
	if filepath.IsAbs(words[1]) {
		return words[1]
	}
	return filepath.Join(dir, words[1])
}

// checkScript says why a script can't run: it is not there, or its shell can't read it.
func checkScript(words []string, dir string) (script string, err error) {
	script = scriptOf(words, dir)
	if script == "" {
		return "", nil
	}
	if err := there(script); err != nil {
		return "", &kind.MachineError{Err: err}
	}
	if interpreters[filepath.Base(words[0])].shell {
		return script, checkSyntax(dir, words[0], script)
	}
	return script, nil
}

// findProgram finds a program; one that is not there is missing on this machine only.
func findProgram(dir, name string) (string, error) {
	path, err := program.Find(dir, name)
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

// shellTime is how long a shell may look at a script.
const shellTime = 5 * time.Second

// checkProgram says that the program of a line isn't there. One without a slash may be
// known to the shell alone.
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

// checkSyntax has a shell read a script, or a line after -c, without running it.
func checkSyntax(dir, shell string, args ...string) error {
	path, err := findProgram(dir, shell)
	if err != nil {
		return err
	}
	return ask(dir, path, append([]string{"-n"}, args...)...)
}

// ask has a shell answer a question with its exit code. The error is what it said.
func ask(dir, shell string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), shellTime)
	defer cancel()
	complaint := &tail{}
	check := program.Program{Path: shell, Args: args, Dir: dir, Env: program.Environ(program.DefaultEnv), Stderr: complaint}
	out, err := check.Run(ctx)
	switch {
	case err != nil:
		return err
	case out.Code != 0:
		return errors.New(cmp.Or(complaint.firstLine(), fmt.Sprintf("exit status %d", out.Code)))
	}
	return nil
}
