package linter

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// machine is one that has just the given programs, each a shell script.
func machine(t *testing.T, programs map[string]string) func(string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) (string, error) {
		if _, ok := programs[name]; !ok {
			return "", exec.ErrNotFound
		}
		return filepath.Join(dir, name), nil
	}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func toolPost(t *testing.T, file string) events.Event {
	t.Helper()
	data, err := json.Marshal(map[string]any{"tool_name": "Write", "tool_input": map[string]string{"file_path": file}})
	if err != nil {
		t.Fatal(err)
	}
	return events.Event{Name: events.ToolPost, Data: data}
}

func TestHook(t *testing.T) {
	notLinted := func(text string) chain.Result {
		return chain.Result{UserMessage: "Not linted: " + text, UserMessageLevel: chain.LevelInfo}
	}
	found := func(linter, text, message string) chain.Result {
		return chain.Result{
			Action: chain.InjectContext, ContextInjection: "Linter issues in FILE (" + linter + "):\n" + text,
			UserMessage: message, UserMessageLevel: chain.LevelWarning, SuppressOutput: true,
		}
	}
	for sentence, c := range map[string]struct {
		file     string
		programs map[string]string
		want     chain.Result
	}{
		"the linter finds nothing": {"a.py", map[string]string{"ruff": "exit 0"}, chain.Result{}},
		"the linter finds two issues": {
			"a.py",
			map[string]string{"ruff": `echo "$4:1: E501"; echo "$4:2: F401" >&2; exit 1`},
			found("ruff", "./a.py:1: E501\n./a.py:2: F401", "Found 2 linting issues in a.py"),
		},
		"the best linter is missing": {
			"a.py",
			map[string]string{"pyflakes": `echo "$1:1: unused"; exit 1`, "python3": "exit 0"},
			found("pyflakes", "./a.py:1: unused", "Found 1 linting issue in a.py"),
		},
		"the best linter fails": {
			"a.py", map[string]string{"ruff": "echo broken configuration; exit 2", "pyflakes": "exit 0"}, chain.Result{},
		},
		"no linter is there": {
			"a.py", nil, notLinted("a.py: no linter works here (tried ruff, pyflakes, python3)"),
		},
		"no linter works": {
			"a.sh", map[string]string{"shellcheck": "exit 3"}, notLinted("a.sh: no linter works here (tried shellcheck, sh)"),
		},
		"go vet has no module to look at, gofmt has": {
			"a.go",
			map[string]string{"go": "echo 'go: go.mod file not found'; exit 1", "gofmt": `echo "$3" | cut -c3-`},
			found("gofmt", "a.go is not formatted: run gofmt -w", "Found 1 linting issue in a.go"),
		},
		"go vet finds something": {
			"a.go",
			map[string]string{"go": "echo '# x'; echo 'vet: ./a.go:1:1: undefined: y'; exit 1"},
			found("go vet", "# x\nvet: ./a.go:1:1: undefined: y", "Found 2 linting issues in a.go"),
		},
		"golangci-lint comes first": {
			"a.go",
			map[string]string{"golangci-lint": "echo 'a.go:1: bad'; exit 1", "go": "exit 0", "gofmt": "exit 0"},
			found("golangci-lint", "a.go:1: bad", "Found 1 linting issue in a.go"),
		},
		"the shell itself": {
			"a.bash",
			map[string]string{"bash": `echo "$2: line 1: oops" >&2; exit 2`},
			found("bash", "./a.bash: line 1: oops", "Found 1 linting issue in a.bash"),
		},
		"issues without a word": {
			"a.py",
			map[string]string{"ruff": "exit 1"},
			found("ruff", "it has issues, and does not say which", "Found 1 linting issue in a.py"),
		},
		"a file that has no linter": {"notes.md", map[string]string{"ruff": "exit 1"}, chain.Result{}},
		"a file whose name looks like a flag": {
			"-x.py", map[string]string{"pyflakes": `echo "$1"; exit 1`}, found("pyflakes", "./-x.py", "Found 1 linting issue in -x.py"),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			file := write(t, c.file, "x\n")
			got, err := Hook(Options{LookPath: machine(t, c.programs)})(t.Context(), toolPost(t, file))
			if err != nil {
				t.Fatal(err)
			}
			got.ContextInjection = strings.ReplaceAll(got.ContextInjection, file, "FILE")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHookRunsTheLintersOfThisMachine(t *testing.T) {
	for _, name := range []string{"broken.go", "broken.sh"} {
		file := write(t, name, "package x\nfunc broken( {\nif ; then\n")
		got, err := Hook(Options{})(t.Context(), toolPost(t, file))
		if err != nil || got.Action != chain.InjectContext || got.UserMessage == "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestHookFindsRelativeFiles(t *testing.T) {
	file := write(t, "a.py", "x\n")
	hook := Hook(Options{Dir: filepath.Dir(file), LookPath: machine(t, map[string]string{"ruff": "echo bad; exit 1"})})
	got, err := hook(t.Context(), toolPost(t, "a.py"))
	if err != nil || !strings.HasPrefix(got.ContextInjection, "Linter issues in "+file) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHookCutsLongOutput(t *testing.T) {
	script := "i=0; while [ $i -lt 2000 ]; do echo 'a line of é output'; i=$((i+1)); done; exit 1"
	got, err := Hook(Options{LookPath: machine(t, map[string]string{"ruff": script})})(t.Context(), toolPost(t, write(t, "a.py", "")))
	if err != nil || len(got.ContextInjection) > 10<<10 || !strings.HasSuffix(got.ContextInjection, "... (cut)") ||
		!strings.HasPrefix(got.UserMessage, "Found 2000 ") {
		t.Errorf("%d bytes, %q, %v", len(got.ContextInjection), got.UserMessage, err)
	}
}

func TestHookSaysWhenTheFileIsElsewhere(t *testing.T) {
	got, err := Hook(Options{})(t.Context(), toolPost(t, filepath.Join(t.TempDir(), "gone.py")))
	if err != nil || got.UserMessage != "Not linted: gone.py: it is not on the linter's machine" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHookStopsWhenTheTimeIsOver(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	hook := Hook(Options{LookPath: machine(t, map[string]string{"ruff": "exec tail -f /dev/null"})})
	if got, err := hook(ctx, toolPost(t, write(t, "a.py", ""))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHookReportsDataItCannotRead(t *testing.T) {
	if _, err := Hook(Options{})(t.Context(), events.Event{Data: json.RawMessage(`{"tool_input":{"file_path":5}}`)}); err == nil {
		t.Error("a path that is a number is read")
	}
	if got, err := Hook(Options{})(t.Context(), events.Event{Data: json.RawMessage(`{"tool_input":{}}`)}); err != nil || got.Action != "" {
		t.Errorf("no path: %+v, %v", got, err)
	}
}
