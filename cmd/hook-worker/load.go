package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
)

// faults are what is wrong with a worker file, which was told already, each with its line.
type faults struct {
	path string
	n    int
	err  error
}

func (f faults) Error() string { return f.path + ": " + count(f.n, "error") }

func (f faults) Unwrap() error { return f.err }

// load reads a file for who serves its hooks, and prints what is wrong with it, each
// with its line.
func load(path string, w kind.Worker, stderr io.Writer) (*workerfile.File, error) {
	file, err := read(path, w)
	return file, told(path, err, stderr)
}

// look reads a file for who only looks at it: what its hooks need besides may be missing.
func look(path string, w kind.Worker, stderr io.Writer) (*workerfile.File, error) {
	o := options(path, w)
	o.FileOnly = true
	file, err := readWith(path, o)
	return file, told(path, err, stderr)
}

// loader reads a file as often as it is asked. Where its hooks need not all run, what
// this machine lacks of them is a warning, the first time.
func loader(path string, runAll bool, stderr io.Writer) evaluate.Loader {
	if runAll {
		return func(w kind.Worker) (*workerfile.File, error) { return load(path, w, stderr) }
	}
	warned := false
	return func(w kind.Worker) (*workerfile.File, error) {
		file, err := look(path, w, stderr)
		if err == nil && !warned {
			warned = true
			for _, h := range file.Hooks {
				if h.Lacks != nil {
					fmt.Fprintf(stderr, "warning: hook %s can't run here: %v\n", h.Registration.ID, h.Lacks)
				}
			}
		}
		return file, err
	}
}

// told prints the errors of a worker file, each with its line, and returns how many.
func told(path string, err error, stderr io.Writer) error {
	if err == nil {
		return nil
	}
	all := workerfile.Errors(err)
	if len(all) == 0 {
		return inputError{err}
	}
	for _, e := range all {
		fmt.Fprintf(stderr, "%v\n%s", e, e.Snippet())
	}
	return inputError{faults{path, len(all), err}}
}

// tellWarnings prints the warnings of a file, each with its line, and returns them.
func tellWarnings(file *workerfile.File, stderr io.Writer) (warnings []*workerfile.Error) {
	var all []error
	for _, h := range file.Hooks {
		all = append(all, h.Warnings...)
	}
	for _, t := range file.Tests {
		all = append(all, t.Warnings...)
	}
	warnings = workerfile.Errors(errors.Join(all...))
	for _, e := range warnings {
		fmt.Fprintf(stderr, "warning: %v\n%s", e, e.Snippet())
	}
	return warnings
}

// read reads a file for a worker in its directory.
func read(path string, w kind.Worker) (*workerfile.File, error) {
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
