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

// Find returns the absolute path of a program: one with a slash is found from dir, any
// other in the absolute directories of PATH. A script must name a program that is there in
// its first line, if it has one. The error says what to do.
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

// maxFirstLine is what the kernel reads of a script's first line, in bytes.
const maxFirstLine = 256

// firstLine says what is wrong with the first line of a script: the kernel's own word,
// that there is no such file, is about the program that the line names.
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

// Interpreter is the program that the first line of a script names, such as /bin/sh or
// python3; empty for what is no script, or can't be read.
func Interpreter(file string) string {
	line, _ := shebang(file)
	return interpreter(line)
}

// shebang is what stands behind the #! of a file.
func shebang(file string) (line string, found bool) {
	f, err := os.Open(file)
	if err != nil { // one that may be executed but not read
		return "", false
	}
	defer f.Close()
	head := make([]byte, maxFirstLine)
	n, _ := io.ReadFull(f, head)
	line, _, _ = strings.Cut(string(head[:n]), "\n")
	return strings.CutPrefix(line, "#!")
}

// interpreter is the program of a line; env only finds it.
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

// notStarted says why a program that was found can't be started now.
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
