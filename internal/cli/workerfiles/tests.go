package workerfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/evaluate"
	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// Tests runs the tests of worker files, or events through one, without NATS.
type Tests struct {
	Files  []string // worker files
	Events string   // a file of events to run instead of the tests; - is Stdin
	RunAll bool     // also call hooks with side effects
	JUnit  string   // a file for the results as JUnit XML; empty for none
	JSON   bool     // print a line of JSON for each result, instead of text
	Width  int      // the width to which text is folded; 0 means unlimited

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// errInterrupted ends an interrupted run.
var errInterrupted = errors.New("interrupted before the last result")

// Run prints a line for each test or event. It returns an error if some failed, or could not run.
func (c Tests) Run(ctx context.Context) (err error) {
	report := &evaluate.Report{Out: term.NewPrinter(c.Stdout, c.JSON, false, false), Folded: true}
	report.Out.Width = c.Width
	if c.JUnit != "" {
		file, err := os.Create(c.JUnit) // early, so that no older success report stays if this run is killed
		if err != nil {
			return InputError(fmt.Errorf("write JUnit: %w", err))
		}
		defer func() {
			if wrong := errors.Join(report.JUnit(file), file.Close()); wrong != nil {
				err = errors.Join(err, fmt.Errorf("write JUnit: %w", wrong))
			}
		}()
	}
	err = c.try(ctx, report)
	if full := report.End(); !errors.Is(err, full) {
		err = errors.Join(err, full)
	}
	if err == nil && report.Failed > 0 {
		err = fmt.Errorf("%d of %d failed", report.Failed, report.Tests)
	}
	return err
}

// try runs the tests or events. An error with one file does not keep it from running the others.
func (c Tests) try(ctx context.Context, report *evaluate.Report) (wrong error) {
	if c.Events != "" && len(c.Files) != 1 {
		wrong = InputError(errors.New("events run through one worker file: give one with --events"))
		report.Broken(c.Events, wrong)
		return wrong
	}
	for _, path := range c.Files {
		about, run := path, c.tests
		if c.Events != "" {
			about, run = c.Events, c.events
		}
		err := run(ctx, path, report)
		if ctx.Err() != nil {
			err = errInterrupted
		}
		if err != nil {
			report.Broken(about, err)
			wrong = errors.Join(wrong, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return wrong
}

// loader returns a [Loader] that prints the warnings about the hooks once. Warnings about a test
// are in its result.
func (c Tests) loader(path string) evaluate.Loader {
	load, warned := Loader(path, c.RunAll, c.Stderr), false
	return func(w kind.Worker) (*workerfile.File, error) {
		file, err := load(w)
		if err == nil && !warned {
			warned = true
			Warn(&workerfile.File{Hooks: file.Hooks}, c.Stderr)
		}
		return file, err
	}
}

// tests runs the tests of a file.
func (c Tests) tests(ctx context.Context, path string, report *evaluate.Report) error {
	before := report.Tests
	if err := evaluate.RunTests(ctx, path, c.loader(path), evaluate.Options{RunAll: c.RunAll}, report.Add); err != nil {
		return err
	}
	if report.Tests == before {
		return InputError(fmt.Errorf("%s has no tests: write a section tests, or give events with --events", path))
	}
	return nil
}

// events runs a file of events through the hooks of another.
func (c Tests) events(ctx context.Context, path string, report *evaluate.Report) error {
	in, err := OpenEvents(c.Events, c.Stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	err = evaluate.Events(ctx, c.Events, in, c.loader(path), evaluate.Options{RunAll: c.RunAll}, report.Add)
	if wrong, ok := errors.AsType[*evaluate.ReadError](err); ok {
		return InputError(wrong)
	}
	return err
}

// OpenEvents opens a file of events; - is stdin.
func OpenEvents(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	in, err := os.Open(name)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // the PathError repeats the name
	}
	if err == nil {
		if info, _ := in.Stat(); info == nil || !info.IsDir() {
			return in, nil
		}
		_ = in.Close()
		err = errors.New("is a directory")
	}
	return nil, InputError(&evaluate.ReadError{File: name, Err: fmt.Errorf("%w: give a file with an event a line, or - for the standard input", err)})
}
