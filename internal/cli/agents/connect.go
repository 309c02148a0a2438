package agents

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/term"
)

// place is the set of flags that select the configuration.
type place struct {
	Scope string `enum:"user,project,managed" default:"user" help:"Whose configuration: user, project (the one in this directory) or managed (of this machine)."`
	Yes   bool   `short:"y" help:"Write without asking."`
	Diff  bool   `help:"Show each line that changes, instead of a summary."`
	Dry   bool   `name:"dry-run" help:"Show each line that would change, and write nothing."`
}

// configuration returns an agent's target and the path of its configuration.
func (p place) configuration(e *cli.Env, agent string) (target, string, error) {
	t, err := find(agent)
	if err != nil {
		return target{}, "", err
	}
	return t.configuration(p.Scope, e.Getenv)
}

// ConnectCmd adds hook-agent to the configuration of a coding agent.
type ConnectCmd struct {
	Agent string `arg:"" optional:"" help:"The agent; without one, the agents of this machine are listed."`
	place
	HookAgent string        `name:"hook-agent" type:"path" placeholder:"FILE" help:"The program hook-agent; default: beside hookctl, or in PATH."`
	Timeout   time.Duration `default:"10m" help:"How long the agent waits for an answer, people's included."`
}

// Run shows the changes and writes them. Without an agent it lists the agents.
func (c *ConnectCmd) Run(ctx context.Context, e *cli.Env) error {
	if c.Agent == "" {
		return list(e)
	}
	t, path, err := c.configuration(e, c.Agent)
	if err != nil {
		return err
	}
	if c.Timeout < 10*time.Second {
		return fmt.Errorf("--timeout %s is too short: a person needs at least 10s", c.Timeout)
	}
	h := hooks{timeout: c.Timeout.Truncate(time.Second), target: t}
	if h.program, err = c.program(); err != nil {
		return err
	}
	if h.args, err = arguments(e); err != nil {
		return err
	}
	changes, err := connecting(path, h)
	if err != nil {
		return err
	}
	done, err := c.write(e, h, changes)
	if err != nil || !done {
		return err
	}
	e.Out.Print("%s asks the hook router from its next session on.\nTry it: hookctl doctor %s\n", c.Agent, c.Agent)
	if !t.installed(e.Getenv("PATH")) {
		e.Out.Fold(fmt.Sprintf("%s is not in PATH here: the hooks run once it is installed.", t.program))
	}
	if fatal, ungated := t.lacks(ctx, e.Getenv("PATH")); fatal+ungated != "" {
		e.Out.Fold(cmp.Or(fatal, ungated) + ".")
	}
	if at := filepath.Dir(path); c.Scope == user && at != filepath.Dir(filepath.Join(e.Getenv("HOME"), t.paths[user])) {
		e.Out.Fold(fmt.Sprintf("%s has the settings only where %s leads there. Keep agents from writing them: the starter policy names the usual places.", at, t.moved.variable))
	}
	if c.Scope == managed {
		e.Out.Fold(fmt.Sprintf("This applies to everybody on this machine: let all read %s and its credentials, and only root change them.", h.program))
		return nil
	}
	if t.dialect == "codex" {
		e.Out.Fold("Codex silently skips hooks that nobody has trusted: start codex, run /hooks and trust hook-agent. Its sub-agents are denied; --scope managed permits them.")
	}
	return nil
}

// DisconnectCmd removes hook-agent from the configuration of a coding agent.
type DisconnectCmd struct {
	Agent string `arg:"" help:"The agent."`
	place
}

// Run shows the changes and writes them.
func (c *DisconnectCmd) Run(_ context.Context, e *cli.Env) error {
	t, path, err := c.configuration(e, c.Agent)
	if err != nil {
		return err
	}
	changes, err := disconnecting(path, t)
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, change.nothing)
	if others := t.scopes(e.Getenv); len(changes) == 0 && len(others) > 0 {
		return fmt.Errorf("%s is not connected in the scope %s, but in %s: add --scope %s", c.Agent, c.Scope, strings.Join(others, " and "), others[0])
	}
	done, err := c.write(e, hooks{target: t}, changes)
	if done {
		e.Out.Print("%s no longer asks the hook router, from its next session on.\n", c.Agent)
	}
	return err
}

// write shows the changes, asks for confirmation, and writes them. h has the hooks that the changes
// add; its program is empty if they remove hooks.
func (p place) write(e *cli.Env, h hooks, changes []change) (done bool, err error) {
	todo := slices.DeleteFunc(changes, change.nothing)
	if len(todo) == 0 {
		e.Out.Print("Nothing to change.\n")
		return false, nil
	}
	short := false
	for _, c := range todo {
		rows, ok := c.summary(h)
		if ok = ok && !p.Diff && !p.Dry; !ok {
			e.Out.Print("%s", term.CleanLines(c.diff()))
			continue
		}
		short = true
		e.Out.Print("%s\n", term.Clean(c.title()))
		e.Out.Table(rows)
	}
	if p.Dry {
		e.Out.Print("Nothing was written: --dry-run.\n")
		return false, nil
	}
	if !p.Yes {
		if short {
			e.Out.Print("--diff shows each line.\n")
		}
		fmt.Fprint(e.Stderr, "Write this? [y/N] ")
		answer, err := bufio.NewReader(e.Stdin).ReadString('\n')
		if err != nil { // the cursor is still on the question's line
			fmt.Fprintln(e.Stderr)
		}
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return false, errors.New("nothing was written; --yes writes without asking")
		}
	}
	for _, c := range todo {
		err := c.apply()
		if errors.Is(err, fs.ErrPermission) && p.Scope == managed {
			return false, fmt.Errorf("write %s: %w: this is the configuration of the whole machine, which only its administrator may change: run hookctl as root", c.path, err)
		}
		if err != nil {
			return false, fmt.Errorf("write %s: %w", c.path, err)
		}
	}
	return true, nil
}

// program returns the path of hook-agent.
func (c *ConnectCmd) program() (string, error) {
	if c.HookAgent != "" {
		_, err := os.Stat(c.HookAgent)
		return c.HookAgent, err
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "hook-agent")
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	found, err := exec.LookPath("hook-agent")
	if err != nil {
		return "", errors.New("find hook-agent: it is neither beside hookctl nor in PATH: name it with --hook-agent")
	}
	return filepath.Abs(found)
}

// arguments returns the flags that select the router. They go on the hook's command line so that no
// variable in a project's settings can redirect it.
func arguments(e *cli.Env) ([]string, error) {
	server := e.Server
	if server == "" && e.Context != "" {
		return nil, errors.New("a hook takes no context: name the router with --server, and --creds where it needs them")
	}
	if server == "" {
		server = "nats://127.0.0.1:4222"
	}
	args := []string{"--server=" + server}
	if e.Creds != "" {
		path, err := filepath.Abs(e.Creds)
		if err != nil {
			return nil, err
		}
		if _, err := os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("read --creds: %w", err)
		}
		args = append(args, "--creds="+path)
	}
	if e.Prefix != "" {
		args = append(args, "--prefix="+e.Prefix)
	}
	return args, nil
}
