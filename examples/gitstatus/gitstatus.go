// Package gitstatus is an example hook that tells the agent at the start of a
// session what git says about the directory it works in.
//
// It must run where the agent's files are. Where there is no git, or no
// repository, it keeps silent. The repository's own settings may name programs
// for git to run; those that status would run are switched off.
package gitstatus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/hookrouter/hookrouter/pkg/chain"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// maxLines is how much of a long status is told.
const maxLines = 100

// Options says which directory is looked at.
type Options struct {
	// Dir is the directory; empty means the event's cwd, and where the agent does
	// not tell that, the hook's own working directory.
	Dir string
}

// Registration is how the hook asks to be called: at the start of a session.
func Registration() chain.Registration {
	return chain.Registration{ID: "git-status", Events: []string{events.SessionStart}, Priority: 15, ReplaySafe: true}
}

// Hook returns the hook. It is safe for concurrent use.
func Hook(opts Options) chain.Hook {
	return func(ctx context.Context, ev events.Event) (chain.Result, error) {
		var d struct {
			CWD string `json:"cwd"`
		}
		if err := ev.Decode(&d); err != nil {
			return chain.Result{}, err
		}
		if opts.Dir != "" {
			d.CWD = opts.Dir
		}
		status, err := gitStatus(ctx, d.CWD)
		if err != nil || status == "" {
			return chain.Result{}, err
		}
		result := chain.Injection("Git status:\n" + status)
		result.SuppressOutput = true
		return result, nil
	}
}

// gitStatus returns the short status of the repository that dir is in, "" where
// there is none.
func gitStatus(ctx context.Context, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--short", "--branch")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("git status: %w", context.Cause(ctx))
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &exit) && strings.Contains(failure.String(), "not a git repository"):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("git status: %w: %s", err, strings.TrimSpace(failure.String()))
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("... and %d more", more))
	}
	return strings.ToValidUTF8(strings.Join(lines, "\n"), "?"), nil
}
