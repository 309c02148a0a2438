package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Find returns the absolute path of a program. A name with a slash is relative to dir; any other
// name is searched for in the absolute directories of PATH. If a script starts with #!, the program
// after it must exist. The error says what to do.
func Find(dir, name string) (string, error) {
	if name == "" {
		return "", errors.New("the name of a program is missing")
	}
	if err := supported(); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	file := name
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			file = filepath.Join(dir, name)
		}
		var err error
		if file, err = filepath.Abs(file); err != nil {
			return "", err
		}
	}
	path, err := lookPath(file)
	switch {
	case err == nil:
		return path, firstLine(path)
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s: no such program in PATH: install it, or give its path; that of a program beside the file begins with ./", name)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: there is no such file", file)
	case errors.Is(err, fs.ErrPermission):
		return "", notExecutable(file)
	}
	return "", fmt.Errorf("%s: %w", file, err)
}

// lookPath finds a program as exec.LookPath does, but in the absolute directories of PATH only.
func lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(searchPath(os.Getenv("PATH"))) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

func notExecutable(file string) error {
	return fmt.Errorf("%s: it is not executable: chmod +x it", file)
}

// maxFirstLine is the number of bytes that the kernel reads of a script's first line.
const maxFirstLine = 256

// firstLine returns what is wrong with the first line of a script. The kernel's error, "no such
// file", does not say that it is about the program in that line.
func firstLine(script string) error {
	line, found := shebang(script)
	wanted := interpreter(line)
	switch {
	case !found:
		return nil
	case strings.HasSuffix(line, "\r"):
		return fmt.Errorf("%s: its lines end as on Windows, so its program can't be found: save it with LF line ends", script)
	case wanted == "":
		return fmt.Errorf("%s: its first line, #!, names no program: write one like #!/bin/sh", script)
	}
	if _, err := lookPath(wanted); errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the program of its first line is not there: install %s, or change the line", script, wanted)
	}
	return nil
}

// Interpreter returns the program in the first line of a script, such as /bin/sh or python3; empty
// if the file is not a script or can't be read.
func Interpreter(file string) string {
	line, _ := shebang(file)
	return interpreter(line)
}

// shebang returns the rest of the first line of a file after #!. found is false if there is no #!.
func shebang(file string) (line string, found bool) {
	f, err := os.Open(file)
	if err != nil { // a file may be executable but not readable
		return "", false
	}
	defer f.Close()
	head := make([]byte, maxFirstLine)
	n, _ := io.ReadFull(f, head)
	line, _, _ = strings.Cut(string(head[:n]), "\n")
	return strings.CutPrefix(line, "#!")
}

// interpreter returns the program in the line of a shebang, or the program that env finds.
func interpreter(line string) string {
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
		return ""
	case filepath.Base(words[0]) == "env" && len(words) > 1 && !strings.HasPrefix(words[1], "-") && !strings.Contains(words[1], "="):
		return words[1]
	}
	return words[0]
}

// notStarted explains why a program that was found can't be started.
func notStarted(path string, err error) error {
	if _, gone := os.Stat(path); errors.Is(err, fs.ErrNotExist) && gone == nil {
		if err := firstLine(path); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%w: a script begins with a line like #!/bin/sh", err)
	case errors.Is(err, fs.ErrPermission):
		if _, err := exec.LookPath(path); errors.Is(err, fs.ErrPermission) {
			return notExecutable(path)
		}
	}
	return err
}
