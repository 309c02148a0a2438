package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hookrouter/hookrouter/internal/evaluate"
)

// testFiles runs the tests of files, or events through one, without NATS.
type testFiles struct {
	Files  []string `arg:"" name:"file" help:"Worker files."`
	Events string   `placeholder:"FILE" help:"Instead of the tests, run the events of this file and show what each hook decided; - reads the standard input."`
	RunAll bool     `help:"Call hooks that act in the world too, such as commands: what they do, they do."`
	JUnit  string   `name:"junit" placeholder:"FILE" help:"Write the results as JUnit XML too."`
	JSON   bool     `name:"json" xor:"form" help:"A line of JSON each; the default where the output is no terminal."`
	Text   bool     `name:"text" xor:"form" help:"Output for people, wherever it goes."`
}

// errInterrupted ends a run that somebody ended.
var errInterrupted = errors.New("interrupted before the last result")

// run writes a line for each test or event. Its error says that some failed, or what
// kept them from being run.
func (c testFiles) run(ctx context.Context, p process) (err error) {
	report := &evaluate.Report{Out: p.stdout, JSON: c.JSON || !p.terminal && !c.Text}
	if c.JUnit != "" {
		file, err := os.Create(c.JUnit) // now: an older one would say that all is well if this is killed
		if err != nil {
			return inputError{fmt.Errorf("write JUnit: %w", err)}
		}
		defer func() {
			if wrong := errors.Join(report.JUnit(file), file.Close()); wrong != nil {
				err = errors.Join(err, fmt.Errorf("write JUnit: %w", wrong))
			}
		}()
	}
	err = c.try(ctx, report, p.stderr)
	if full := report.End(); !errors.Is(err, full) {
		err = errors.Join(err, full)
	}
	if err == nil && report.Failed > 0 {
		err = fmt.Errorf("%d of %d failed", report.Failed, report.Tests)
	}
	return err
}

// try runs what there is to run. What keeps the tests of one file from it does not keep
// those of the others.
func (c testFiles) try(ctx context.Context, report *evaluate.Report, stderr io.Writer) (wrong error) {
	if c.Events != "" && len(c.Files) != 1 {
		wrong = inputError{errors.New("events run through one worker file: give one with --events")}
		report.Broken(c.Events, wrong)
		return wrong
	}
	for _, path := range c.Files {
		about, run := path, c.tests
		if c.Events != "" {
			about, run = c.Events, c.events
		}
		err := run(ctx, path, report, stderr)
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

// tests runs those of a file.
func (c testFiles) tests(ctx context.Context, path string, report *evaluate.Report, stderr io.Writer) error {
	before := report.Tests
	if err := evaluate.Run(ctx, path, loader(path, c.RunAll, stderr), evaluate.Options{RunAll: c.RunAll}, report.Add); err != nil {
		return err
	}
	if report.Tests == before {
		return inputError{fmt.Errorf("%s has no tests: write a section tests, or give events with --events", path)}
	}
	return nil
}

// events runs a file of them through the hooks of another.
func (c testFiles) events(ctx context.Context, path string, report *evaluate.Report, stderr io.Writer) error {
	in, err := openEvents(c.Events)
	if err != nil {
		return err
	}
	defer in.Close()
	err = evaluate.Events(ctx, c.Events, in, loader(path, c.RunAll, stderr), evaluate.Options{RunAll: c.RunAll}, report.Add)
	if wrong, ok := errors.AsType[*evaluate.ReadError](err); ok {
		return inputError{wrong}
	}
	return err
}

// openEvents opens a file of events; - is the standard input.
func openEvents(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	in, err := os.Open(name)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // it has the name, too
	}
	if err == nil {
		if info, _ := in.Stat(); info == nil || !info.IsDir() {
			return in, nil
		}
		_ = in.Close()
		err = errors.New("is a directory")
	}
	return nil, inputError{&evaluate.ReadError{File: name, Err: fmt.Errorf("%w: give a file with an event a line, or - for the standard input", err)}}
}
