package policy

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
)

type TestCmd struct {
	Files      []string `arg:"" name:"file" help:"Worker files."`
	Events     string   `placeholder:"FILE" help:"Instead of the tests, run the events of this file and show what each hook decided; - reads the standard input."`
	RunAll     bool     `help:"Call hooks that act in the world too, such as commands: what they do, they do."`
	JUnit      string   `name:"junit" placeholder:"FILE" help:"Write the results as JUnit XML too."`
	HookWorker string   `type:"path" placeholder:"PATH" help:"The hook-worker program; default: that beside hookctl, else the one in PATH."`
}

// Help is what the command does, at length.
func (c *TestCmd) Help() string {
	return `Worker files are tried without NATS: nothing is registered, published or recorded.

Without --events the tests run that stand in the files, in their section tests. With --events each event of a file goes through
the hooks of one worker file, and what each of them decided is shown. That file has an event a line, {"event":…,"session_id":…,"data":{…}},
a CloudEvent, or what hookctl watch --json writes; or it is an export of the audit log.

Hooks that act in the world are not called, so that their programs and secrets may be missing here: that is a warning, and an error
with --run-all. With --junit, a file that is wrong or has no tests is an error in the report, too.

Exit codes: 0 all is well; 1 a test or a hook failed, or a file is wrong.`
}

// Run has hook-worker, which knows the kinds of hooks, do it.
func (c *TestCmd) Run(ctx context.Context, e *cli.Env) error {
	program, err := hookWorker(c.HookWorker)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, c.args(e.Out.JSON)...)
	cmd.Stdout, cmd.Stderr = e.Stdout, cleanWriter{e.Stderr}
	if c.Events == "-" {
		cmd.Stdin = e.Stdin
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	if exit, ended := errors.AsType[*exec.ExitError](err); ended && exit.Exited() && ctx.Err() == nil { // it has said why
		e.Exit = cli.ExitLocal
		return nil
	}
	if err != nil {
		return fmt.Errorf("run hook-worker: %w", err)
	}
	return nil
}

func (c *TestCmd) args(json bool) []string {
	args := []string{"test", "--text"}
	if json {
		args[1] = "--json"
	}
	if c.Events != "" {
		args = append(args, "--events="+c.Events)
	}
	if c.RunAll {
		args = append(args, "--run-all")
	}
	if c.JUnit != "" {
		args = append(args, "--junit="+c.JUnit)
	}
	return append(append(args, "--"), c.Files...)
}
