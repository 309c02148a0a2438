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

// inputError is an error in the command line or in a file.
type inputError struct{ error }

// Unwrap returns the cause.
func (e inputError) Unwrap() error { return e.error }

// InputError marks err as an error in the command line or in a file; see [IsInput].
func InputError(err error) error { return inputError{err} }

// IsInput reports whether an error is in the command line or in a file.
func IsInput(err error) bool {
	_, is := errors.AsType[inputError](err)
	return is
}

// faults is the error for a worker file whose errors have already been printed, each with its line.
type faults struct {
	path string
	n    int
	err  error
}

func (f faults) Error() string { return f.path + ": " + term.Plural(f.n, "error") }

func (f faults) Unwrap() error { return f.err }

// Load loads a file to serve its hooks, and prints its errors, each with its line.
func Load(path string, w kind.Worker, stderr io.Writer) (*workerfile.File, error) {
	file, err := Read(path, w)
	return file, printed(path, err, stderr)
}

// Look loads a file without the intent to serve it. What its hooks need besides the file may be
// missing.
func Look(path string, w kind.Worker, stderr io.Writer) (*workerfile.File, error) {
	o := options(path, w)
	o.FileOnly = true
	file, err := readWith(path, o)
	return file, printed(path, err, stderr)
}

// Loader returns a function that loads a file on each call. If not all hooks need to run, it
// reports what they lack on this machine as warnings, on the first call.
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

// printed prints the errors and warnings of a worker file, each with its line. It returns an error
// with their number.
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

// told prints one error or warning of a file, and its line.
func told(stderr io.Writer, before string, e *workerfile.Error) {
	term.Say(stderr, before+e.Error())
	fmt.Fprint(stderr, e.Snippet())
}

// Read reads a file for a worker in the file's directory.
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
