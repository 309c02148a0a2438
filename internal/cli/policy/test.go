package policy

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
)

// TestCmd is hookctl test.
type TestCmd struct {
	Files      []string `arg:"" optional:"" name:"file" help:"Worker files; none: worker.yaml, else those of examples/policies, below the working directory."`
	Events     string   `placeholder:"FILE" help:"Instead of the tests, run the events of this file and show what each hook decided; - reads the standard input."`
	RunAll     bool     `help:"Also call hooks with side effects, such as commands."`
	JUnit      string   `name:"junit" placeholder:"FILE" help:"Write the results as JUnit XML too."`
	HookWorker string   `hidden:"" type:"path" placeholder:"PATH" help:"Not used: hookctl runs worker files itself."`
}

// Help describes the command.
func (c *TestCmd) Help() string {
	return `Worker files run without NATS: nothing is registered, published or recorded.

Without --events the tests in the section tests of each file run. With --events each event of a file goes through
the hooks of one worker file, and what each of them decided is shown. That file has an event a line, {"event":…,"session_id":…,"data":{…}},
a CloudEvent, or what hookctl watch --json writes; or it is an export of the audit log.

Hooks that act in the world are not called, so that their programs and secrets may be missing here: that is a warning, and an error
with --run-all. With --junit, a file that is wrong or has no tests is an error in the report, too.

Exit codes: 0 all passed; 1 a test or a hook failed, or a file has errors.`
}

// here returns the worker files to test if none is named: that of hookctl init, or those of a clone
// of the repository.
func here() ([]string, error) {
	for _, pattern := range []string{"worker.yaml", "examples/policies/*.yaml"} {
		if files, err := filepath.Glob(pattern); err != nil || len(files) > 0 {
			return files, err
		}
	}
	return nil, errors.New("test worker files: name some; there is no worker.yaml here, and no examples/policies")
}

// Run runs the tests or the events.
func (c *TestCmd) Run(ctx context.Context, e *cli.Env) (err error) {
	if len(c.Files) == 0 {
		if c.Files, err = here(); err != nil {
			return err
		}
	}
	width := 0
	if e.Terminal { // other programs expect a test per line
		width = e.Out.Width
	}
	return workerfiles.Tests{
		Files: c.Files, Events: c.Events, RunAll: c.RunAll, JUnit: c.JUnit, JSON: e.Out.JSON, Width: width,
		Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr,
	}.Run(ctx)
}
