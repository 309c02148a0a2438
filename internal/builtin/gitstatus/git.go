package gitstatus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/process"
)

// noRepository is git's exit code where there is no repository, or one that belongs
// to somebody else.
const noRepository = 128

// maxFilters bounds the filters of a repository that are switched off.
const maxFilters = 200

// safe are the settings that keep git from running programs of the repository's, and
// its output as it is read here.
var safe = []string{
	"core.fsmonitor", "false",
	"core.hooksPath", "/dev/null",
	"core.quotePath", "true",
	"core.untrackedCache", "false",
	"safe.bareRepository", "explicit",
	"status.submoduleSummary", "false",
	"status.showStash", "false",
	"color.ui", "false",
	"color.status", "false",
}

// git is the program, and the directory that it looks at.
type git struct{ program, dir string }

// status returns what git status says in short: the branch, and a line for each file
// that changed; "" where there is no repository.
func (g git) status(ctx context.Context) (string, error) {
	if g.dir != "" && !isDir(g.dir) {
		return "", nil
	}
	off, err := g.filters(ctx)
	if err != nil {
		return "", err
	}
	out, err := g.run(ctx, off, "status", "--short", "--branch", "--ignore-submodules=all", "--untracked-files=normal")
	switch {
	case err != nil:
		return "", err
	case out.Cut:
		return string(out.Text[:strings.LastIndexByte(string(out.Text), '\n')+1]), nil
	case out.Code == noRepository:
		return "", nil
	case out.Code != 0:
		return "", fmt.Errorf("git status: exit code %d", out.Code)
	}
	return string(out.Text), nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// filters are the settings that switch the filters of all files off.
func (g git) filters(ctx context.Context) (settings []string, err error) {
	out, err := g.run(ctx, nil, "config", "--includes", "--null", "--name-only", "--get-regexp", `^filter\.`)
	if err != nil {
		return nil, err
	}
	names := strings.Split(strings.TrimRight(string(out.Text), "\x00"), "\x00")
	if out.Cut || len(names) > maxFilters {
		return nil, errors.New("git status: the repository has too many filters to switch off")
	}
	for _, name := range names {
		switch i := strings.LastIndexByte(name, '.'); {
		case i < 0:
		case name[i:] == ".required":
			settings = append(settings, name, "false")
		default:
			settings = append(settings, name, "")
		}
	}
	return settings, nil
}

// run runs git with the safe settings and more of them, names and values in turn.
func (g git) run(ctx context.Context, more []string, args ...string) (process.Output, error) {
	settings := slices.Concat(safe, more)
	env := process.Environ(process.DefaultEnv,
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "LC_ALL=C",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)/2),
	)
	for i := 0; i+1 < len(settings); i += 2 {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, settings[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, settings[i+1]))
	}
	return process.Program{Path: g.program, Args: append([]string{"--no-pager"}, args...), Dir: g.dir, Env: env}.Run(ctx)
}
