package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hookrouter/hookrouter/internal/hookfile"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/internal/trial"
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

// run writes a line for each test or event. Its error says that some failed.
func (c testFiles) run(ctx context.Context, p process) error {
	report := &trial.Report{Out: p.stdout, JSON: c.JSON || !p.terminal && !c.Text}
	err := c.try(ctx, report, p.stderr)
	if ctx.Err() != nil {
		return errors.New("interrupted before the last result")
	}
	if wrong, ok := errors.AsType[*trial.ReadError](err); ok {
		err = inputError{wrong}
	}
	if err == nil {
		err = report.End()
	}
	if c.JUnit != "" {
		err = errors.Join(err, writeJUnit(c.JUnit, report))
	}
	if err == nil && report.Failed > 0 {
		err = fmt.Errorf("%d of %d failed", report.Failed, report.Tests)
	}
	return err
}

func (c testFiles) try(ctx context.Context, report *trial.Report, stderr io.Writer) error {
	o := trial.Options{RunAll: c.RunAll}
	if c.Events != "" {
		if len(c.Files) != 1 {
			return inputError{errors.New("events run through one worker file: give one with --events")}
		}
		in := os.Stdin
		if c.Events != "-" {
			var err error
			if in, err = os.Open(c.Events); err != nil {
				return inputError{fmt.Errorf("read the events: %w", err)}
			}
			defer in.Close()
		}
		return trial.Events(ctx, c.Events, in, loader(c.Files[0], stderr), o, report.Add)
	}
	for _, path := range c.Files {
		before := report.Tests
		if err := trial.Run(ctx, path, loader(path, stderr), o, report.Add); err != nil {
			return err
		}
		if report.Tests == before {
			return inputError{fmt.Errorf("%s has no tests: write a section tests, or give events with --events", path)}
		}
	}
	return nil
}

// loader reads a file as often as it is asked.
func loader(path string, stderr io.Writer) trial.Loader {
	return func(w kind.Worker) (*hookfile.File, error) { return load(path, w, stderr) }
}

func writeJUnit(path string, report *trial.Report) error {
	f, err := os.Create(path)
	if err != nil {
		return inputError{fmt.Errorf("write JUnit: %w", err)}
	}
	if err := errors.Join(report.JUnit(f), f.Close()); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	return nil
}
