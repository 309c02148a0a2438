package workerfiles

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
)

// inputError is an error of the command line or of a file.
type inputError struct{ error }

// Unwrap returns the cause.
func (e inputError) Unwrap() error { return e.error }

// InputError marks err as one of the command line or of a file; see [IsInput].
func InputError(err error) error { return inputError{err} }

// IsInput reports whether an error is one of the command line or of a file.
func IsInput(err error) bool {
	_, is := errors.AsType[inputError](err)
	return is
}

// faults are what is wrong with a worker file. They were printed, each with its line.
type faults struct {
	path string
	n    int
	err  error
}

func (f faults) Error() string { return f.path + ": " + term.Plural(f.n, "error") }

func (f faults) Unwrap() error { return f.err }

// Load reads a file for who serves its hooks, and prints what is wrong with it, each
// with its line.
func Load(path string, w kind.Worker, stderr io.Writer) (*workerfile.File, error) {
	file, err := Read(path, w)
	return file, printed(path, err, stderr)
}

// Look reads a file for who only looks at it: what its hooks need besides may be missing.
func Look(path string, w kind.Worker, stderr io.Writer) (*workerfile.File, error) {
	o := options(path, w)
	o.FileOnly = true
	file, err := readWith(path, o)
	return file, printed(path, err, stderr)
}

// Loader reads a file as often as it is asked. Where its hooks need not all run, what
// this machine lacks of them is a warning, the first time.
func Loader(path string, runAll bool, stderr io.Writer) evaluate.Loader {
	if runAll {
		return func(w kind.Worker) (*workerfile.File, error) { return Load(path, w, stderr) }
	}
	warned := false
	return func(w kind.Worker) (*workerfile.File, error) {
		file, err := Look(path, w, stderr)
		if err == nil && !warned {
			warned = true
			for _, h := range file.Hooks {
				if h.Lacks != nil {
					term.Say(stderr, fmt.Sprintf("warning: hook %s can't run here: %v", h.Registration.ID, h.Lacks))
				}
			}
		}
		return file, err
	}
}

// printed prints the errors of a worker file and its warnings, each with its line, and
// returns how many errors there are.
func printed(path string, err error, stderr io.Writer) error {
	if err == nil {
		return nil
	}
	all := workerfile.Errors(err)
	if len(all) == 0 {
		return InputError(err)
	}
	tell(workerfile.Warnings(err), stderr)
	for _, e := range all {
		told(stderr, "", e)
	}
	return InputError(faults{path, len(all), err})
}

// Warn prints the warnings of a file, each with its line, and returns them.
func Warn(file *workerfile.File, stderr io.Writer) (warnings []*workerfile.Error) {
	warnings = file.Warnings()
	tell(warnings, stderr)
	return warnings
}

func tell(warnings []*workerfile.Error, stderr io.Writer) {
	for _, e := range warnings {
		told(stderr, "warning: ", e)
	}
}

// told prints one fault of a file, and its line as it is.
func told(stderr io.Writer, before string, e *workerfile.Error) {
	term.Say(stderr, before+e.Error())
	fmt.Fprint(stderr, e.Snippet())
}

// Read reads a file for a worker in its directory.
func Read(path string, w kind.Worker) (*workerfile.File, error) {
	return readWith(path, options(path, w))
}

func options(path string, w kind.Worker) workerfile.Options {
	w.Dir = filepath.Dir(path)
	return kinds.All(w)
}

func readWith(path string, o workerfile.Options) (*workerfile.File, error) {
	file, err := workerfile.Load(path, o)
	if err != nil {
		return nil, err
	}
	if _, err := reload.Registrations(file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
