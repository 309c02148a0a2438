package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/process"
)

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestFindSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good": "", "sh": "#!/bin/sh\ntrue\n", "env": "#! /usr/bin/env sh\n", "options": "#!/usr/bin/env -S sh -x\n",
		"windows": "#!/bin/sh\r\ntrue\r\n", "nobody": "#!/no/such/python\n", "noenv": "#!/usr/bin/env no-such-python\n", "nothing": "#!",
	} {
		write(t, filepath.Join(dir, name), text, 0o755)
	}
	write(t, filepath.Join(dir, "plain"), "#!/bin/sh\n", 0o644)
	for name, want := range map[string]string{
		"": "the name of a program is missing", "no-such-program-anywhere": "no such program in PATH", "./gone": "there is no such file", "./plain": "it is not executable: chmod +x it", "./": "is a directory",
		"./windows": "save it with LF line ends", "./nobody": "install /no/such/python", "./noenv": "install no-such-python", "./nothing": "write one like #!/bin/sh",
	} {
		if _, err := process.Find(dir, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", name, err, want)
		}
	}
	for _, name := range []string{"good", "sh", "env", "options"} {
		if path, err := process.Find(dir, "./"+name); err != nil || path != filepath.Join(dir, name) {
			t.Errorf("%s: %s, %v", name, path, err)
		}
	}
	for name, want := range map[string]string{"sh": "/bin/sh", "env": "sh", "options": "/usr/bin/env", "good": "", "gone": "", "nothing": ""} {
		if got := process.Interpreter(filepath.Join(dir, name)); got != want {
			t.Errorf("the interpreter of %s is %q; want %q", name, got, want)
		}
	}
	t.Chdir(dir)
	if path, err := process.Find("", "./good"); err != nil || path != filepath.Join(dir, "good") {
		t.Errorf("in the working directory: %s, %v", path, err)
	}
}

// A relative directory of PATH may be one that an agent writes to.
func TestRelativeDirectoriesOfPATHAreNotSearched(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "only-here", "#!/bin/sh\n", 0o755)
	write(t, "sh", "#!/bin/sh\n", 0o755)
	write(t, "env", "#!/usr/bin/env only-here\n", 0o755)
	path := os.Getenv("PATH")
	for _, relative := range []string{"", ".", "./x/.."} {
		t.Setenv("PATH", relative+string(filepath.ListSeparator)+path)
		for name, want := range map[string]string{"only-here": "no such program in PATH", "./env": "install only-here"} {
			if found, err := process.Find(dir, name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("PATH %q: %s: found %q, %v; want %s", relative, name, found, err, want)
			}
		}
		if found, err := process.Find(dir, "sh"); err != nil || filepath.Dir(found) == dir {
			t.Errorf("PATH %q: sh: found %q, %v", relative, found, err)
		}
		if got := process.Environ([]string{"PATH"}); len(got) != 1 || got[0] != "PATH="+path {
			t.Errorf("PATH %q: programs get %q", relative, got)
		}
	}
}

// TestWhatChangedSinceItWasFound are programs that were well when they were found.
func TestWhatChangedSinceItWasFound(t *testing.T) {
	for want, change := range map[string]func(t *testing.T, file string){
		"run hook: " + "fork/exec":             func(t *testing.T, file string) { t.Helper(); _ = os.Remove(file) },
		"it is not executable: chmod +x it":    func(t *testing.T, file string) { t.Helper(); _ = os.Chmod(file, 0o600) },
		"install /no/such/python":              func(t *testing.T, file string) { t.Helper(); write(t, file, "#!/no/such/python\n", 0o755) },
		"a script begins with a line like #!/": func(t *testing.T, file string) { t.Helper(); write(t, file, "echo hello\n", 0o755) },
	} {
		file := filepath.Join(t.TempDir(), "hook")
		write(t, file, "#!/bin/sh\n", 0o755)
		path, err := process.Find("", file)
		if err != nil {
			t.Fatal(err)
		}
		change(t, file)
		if _, err := (process.Program{Path: path}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
