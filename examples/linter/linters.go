package linter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// linter is a program and how its answer is read.
type linter struct {
	name    string // as people know it
	program string
	args    []string // run in the file's directory; FILE stands for the file
	// judge tells, from the exit code and the output, whether there are issues, and
	// whether the linter worked at all.
	judge func(code int, out string) (issues, ok bool)
}

// syntaxOnly compiles a Python file, without running it or writing anything.
const syntaxOnly = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')"

// lintersFor returns the linters of a kind of files, the best first.
func lintersFor(extension string) []linter {
	switch extension {
	case ".go":
		return []linter{
			{"golangci-lint", "golangci-lint", []string{"run", "--allow-parallel-runners", "."}, exitOne},
			{"go vet", "go", []string{"vet", "."}, goVet},
			{"gofmt", "gofmt", []string{"-l", "-e", "FILE"}, anyOutput},
		}
	case ".py":
		return []linter{
			{"ruff", "ruff", []string{"check", "--no-cache", "--quiet", "FILE"}, exitOne},
			{"pyflakes", "pyflakes", []string{"FILE"}, exitOne},
			{"python3", "python3", []string{"-I", "-c", syntaxOnly, "FILE"}, exitOne},
		}
	case ".sh":
		return []linter{{"shellcheck", "shellcheck", []string{"-f", "gcc", "FILE"}, exitOne}, {"sh", "sh", []string{"-n", "FILE"}, anyFailure}}
	case ".bash":
		return []linter{{"shellcheck", "shellcheck", []string{"-f", "gcc", "FILE"}, exitOne}, {"bash", "bash", []string{"-n", "FILE"}, anyFailure}}
	default:
		return nil
	}
}

// exitOne is for linters that end with 1 for issues, and otherwise for failures.
func exitOne(code int, _ string) (issues, ok bool) { return code == 1, code == 0 || code == 1 }

// anyFailure is for programs whose every failure is about the file.
func anyFailure(code int, _ string) (issues, ok bool) { return code != 0, true }

// anyOutput is for linters that list files.
func anyOutput(_ int, out string) (issues, ok bool) { return out != "", true }

// goVet tells issues from a directory that the go command can't work in.
func goVet(code int, out string) (issues, ok bool) {
	return code != 0, code == 0 || !strings.HasPrefix(out, "go: ") && !strings.HasPrefix(out, "pattern ")
}

// run returns what the linter says about a file, "" where there is nothing to
// say; ok is false where it can't work. An error means that the time is over.
func (l linter) run(ctx context.Context, program, file string) (found string, ok bool, err error) {
	args := make([]string, len(l.args))
	for i, a := range l.args {
		args[i] = a
		if a == "FILE" {
			args[i] = "." + string(filepath.Separator) + filepath.Base(file) // never a flag
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Dir(file)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	cmd.WaitDelay = time.Second
	out := &head{room: 256 << 10}
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", false, fmt.Errorf("run %s: %w", l.name, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", false, nil
	}
	text := strings.TrimSpace(strings.ToValidUTF8(out.text.String(), "?"))
	issues, ok := l.judge(cmd.ProcessState.ExitCode(), text)
	switch {
	case !issues || !ok:
		return "", ok, nil
	case text == "":
		return "it has issues, and does not say which", true, nil
	case l.name == "gofmt" && !strings.Contains(text, ":"):
		return text + " is not formatted: run gofmt -w", true, nil
	default:
		return text, true, nil
	}
}

// head keeps the beginning of what is written to it, and takes the rest.
type head struct {
	text bytes.Buffer
	room int
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.room)
	h.room -= n
	h.text.Write(p[:n])
	return len(p), nil
}
