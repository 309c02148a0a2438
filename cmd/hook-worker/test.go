package main

import (
	"context"

	"github.com/hookrouter/hookrouter/internal/cli/term"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
)

// testFiles runs the tests of files, or events through one, without NATS.
type testFiles struct {
	Files  []string `arg:"" name:"file" help:"Worker files."`
	Events string   `placeholder:"FILE" help:"Instead of the tests, run the events of this file and show what each hook decided; - reads the standard input."`
	RunAll bool     `help:"Also call hooks with side effects, such as commands."`
	JUnit  string   `name:"junit" placeholder:"FILE" help:"Write the results as JUnit XML too."`
	JSON   bool     `name:"json" xor:"form" help:"A line of JSON each."`
	Text   bool     `name:"text" xor:"form" help:"Text output, the default."`
}

// Run runs the tests or events and writes their results.
func (c testFiles) Run(ctx context.Context, p process) error {
	return failed(workerfiles.Tests{
		Files: c.Files, Events: c.Events, RunAll: c.RunAll, JUnit: c.JUnit, JSON: c.JSON, Width: term.TerminalWidth(p.stdout),
		Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr,
	}.Run(ctx))
}
