package workerfiles_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

const freeze = `hooks:
  - {id: freeze, events: ["deploy:start"], cel: {rules: [{deny: frozen}]}}
`

const tested = freeze + `tests:
  - {name: nobody deploys, event: "deploy:start", expect: {action: deny}}
`

// lacking needs a program that does not exist.
const lacking = `hooks:
  - {id: calls, events: ["deploy:start"], exec: {command: [no-such-program-anywhere]}}
`

// write writes a file and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, stderr, err string }{
		"a good file":              {freeze, "", ""},
		"a file without hooks":     {"hooks: []\n", "worker.yaml:1:8: hooks: the file has no hooks", "worker.yaml: 1 error"},
		"two errors, a line each":  {"hooks:\n  - {id: a, events: [x], cel: {}, wrong: 1}\n  - {id: b, events: [x], cel: {}, wrong: 1}\n", "worker.yaml:3:", "worker.yaml: "},
		"two hooks of one id":      {freeze + strings.TrimPrefix(freeze, "hooks:\n"), "worker.yaml:3:", "worker.yaml: 1 error"},
		"what this machine lacks":  {lacking, "no such program in PATH", "worker.yaml: 1 error"},
		"a file that is not there": {"", "", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "worker.yaml")
			if tt.text != "" {
				path = write(t, "worker.yaml", tt.text)
			}
			var stderr bytes.Buffer
			file, err := workerfiles.Load(path, kind.Worker{}, &stderr)
			if tt.err == "" {
				if err != nil || stderr.Len() > 0 {
					t.Fatalf("%v\n%s", err, &stderr)
				}
				file.Close()
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.err) || !workerfiles.IsInput(err) {
				t.Errorf("error %v; want one of the input: %s", err, tt.err)
			}
			if !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("stderr %q; want %q in it", &stderr, tt.stderr)
			}
		})
	}
}

// What a machine lacks is an error if all hooks run, and otherwise a single warning.
func TestLoader(t *testing.T) {
	t.Parallel()
	path := write(t, "worker.yaml", lacking)
	var stderr bytes.Buffer
	if file, err := workerfiles.Loader(path, true, &stderr)(kind.Worker{}); err == nil {
		file.Close()
		t.Error("a file whose hooks can't all run is loaded")
	}
	stderr.Reset()
	load := workerfiles.Loader(path, false, &stderr)
	for range 2 {
		file, err := load(kind.Worker{})
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
	}
	if n := strings.Count(stderr.String(), "warning: hook calls can't run here"); n != 1 {
		t.Errorf("%d warnings; want one:\n%s", n, &stderr)
	}
}

func TestTests(t *testing.T) {
	t.Parallel()
	good, bare := write(t, "good.yaml", tested), write(t, "bare.yaml", freeze)
	failing := write(t, "failing.yaml", strings.Replace(tested, "action: deny", "action: continue", 1))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx    context.Context
		tests  workerfiles.Tests
		stdout string
		err    string
		input  bool
	}{
		"all pass":              {t.Context(), workerfiles.Tests{Files: []string{good}}, "1 test, 0 failed", "", false},
		"one fails":             {t.Context(), workerfiles.Tests{Files: []string{good, failing}}, "2 tests, 1 failed", "1 of 2 failed", false},
		"no tests":              {t.Context(), workerfiles.Tests{Files: []string{bare}}, "", "has no tests", true},
		"the next file runs":    {t.Context(), workerfiles.Tests{Files: []string{bare, good}}, "nobody deploys", "has no tests", true},
		"it is interrupted":     {over, workerfiles.Tests{Files: []string{good}}, "", "interrupted before the last result", false},
		"events":                {t.Context(), workerfiles.Tests{Files: []string{good}, Events: "-"}, "deny by freeze", "", false},
		"no event":              {t.Context(), workerfiles.Tests{Files: []string{good}, Events: failing}, "", "failing.yaml", true},
		"events of two files":   {t.Context(), workerfiles.Tests{Files: []string{good, good}, Events: "-"}, "", "give one with --events", true},
		"JUnit in no directory": {t.Context(), workerfiles.Tests{Files: []string{good}, JUnit: filepath.Join(t.TempDir(), "no", "x.xml")}, "", "write JUnit", true},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			tt.tests.Stdin = strings.NewReader(`{"event":"deploy:start"}`)
			tt.tests.Stdout, tt.tests.Stderr = &stdout, &stderr
			err := tt.tests.Run(tt.ctx)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v; want %q", err, tt.err)
			}
			if workerfiles.IsInput(err) != tt.input {
				t.Errorf("the error %v is one of the input: %t", err, !tt.input)
			}
			if !strings.Contains(stdout.String(), tt.stdout) {
				t.Errorf("stdout %q; want %q in it", &stdout, tt.stdout)
			}
		})
	}
}

func TestJUnitIsWritten(t *testing.T) {
	t.Parallel()
	report := filepath.Join(t.TempDir(), "report.xml")
	c := workerfiles.Tests{Files: []string{write(t, "good.yaml", tested)}, JUnit: report, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(report); err != nil || !strings.Contains(string(text), `tests="1" failures="0"`) {
		t.Errorf("JUnit is %s, %v", text, err)
	}
}

func TestOpenEvents(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"a directory": t.TempDir(), "nothing": filepath.Join(t.TempDir(), "x")} {
		if in, err := workerfiles.OpenEvents(path, nil); err == nil || !workerfiles.IsInput(err) || !strings.Contains(err.Error(), "the standard input") {
			t.Errorf("%s: %v, %v; want an error of the input that says what to give", name, in, err)
		}
	}
	if !workerfiles.IsInput(errors.Join(errors.New("x"), workerfiles.InputError(errors.New("y")))) || workerfiles.IsInput(errors.New("x")) {
		t.Error("an error of the input is not told from others")
	}
}
