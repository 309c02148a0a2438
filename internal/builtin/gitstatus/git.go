package gitstatus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/process"
)

// cannotRead is the exit code of git for a repository that it can't read.
const cannotRead = 128

// harmless matches the repository settings that are passed to git: those about the format of files
// and about upstream branches.
var harmless = regexp.MustCompile(`^(core\.(filemode|ignorecase|symlinks|autocrlf|eol|precomposeunicode|trustctime|checkstat)|branch\..*\.(remote|merge)|remote\..*\.fetch)$`)

// unreadable matches the settings without which git would misread the repository.
var unreadable = regexp.MustCompile(`^extensions\.(objectformat|refstorage)$`)

// always are the settings that fix the format of git's output.
var always = []string{"core.quotePath", "true", "status.showStash", "false", "color.ui", "false", "color.status", "false"}

// git runs git in a directory. If only is set, it reports only the files in that directory,
// otherwise all files of the repository.
type git struct {
	program, dir string
	only         bool
}

// status returns the short output of git status: the branch, and a line for each changed file. It
// returns "" if there is no readable repository.
func (g git) status(ctx context.Context) (string, error) {
	if g.dir != "" && !isDir(g.dir) {
		return "", nil
	}
	repo, err := find(g.dir)
	if err != nil || repo == nil {
		return "", err
	}
	defer repo.common.Close()
	dir, err := private()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a cache
	if err := repo.copyTo(dir); err != nil {
		return "", fmt.Errorf("git status: %w", err)
	}
	settings, readable, err := g.settings(ctx, repo, dir)
	if err != nil || !readable {
		return "", err
	}
	args := []string{"status", "--short", "--branch", "--ignore-submodules=all", "--untracked-files=normal"}
	if g.only {
		args = append(args, "--", ".")
	}
	out, err := g.run(ctx, repo, dir, settings, nil, args...)
	switch {
	case err != nil:
		return "", err
	case out.Cut:
		return string(out.Text[:strings.LastIndexByte(string(out.Text), '\n')+1]), nil
	case out.Code == cannotRead:
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

// private creates a directory for a copy, in the user's cache directory if there is one: sandboxed
// agents can often write to the directory for temporary files.
func private() (string, error) {
	if cache, err := os.UserCacheDir(); err == nil {
		parent := filepath.Join(cache, "hook-worker")
		if os.MkdirAll(parent, 0o700) == nil {
			if dir, err := os.MkdirTemp(parent, "git-status-"); err == nil {
				return dir, nil
			}
		}
	}
	return os.MkdirTemp("", "hook-worker-git-status-")
}

// settings returns the harmless settings of a repository as alternating names and values. readable
// is false if git can't read the repository with these settings alone.
func (g git) settings(ctx context.Context, repo *repository, dir string) (settings []string, readable bool, err error) {
	config, err := read(repo.common, "config", maxSmall)
	if err != nil {
		return nil, false, ignoreMissing(err)
	}
	out, err := g.run(ctx, repo, dir, nil, config, "config", "--file", "-", "--no-includes", "--null", "--list")
	if err != nil || out.Cut || out.Code != 0 {
		return nil, false, err
	}
	for setting := range strings.SplitSeq(string(out.Text), "\x00") {
		name, value, given := strings.Cut(setting, "\n")
		switch {
		case unreadable.MatchString(name):
			return nil, false, nil
		case !harmless.MatchString(name):
		case given:
			settings = append(settings, name, value)
		default: // a name without a value means true
			settings = append(settings, name, "true")
		}
	}
	return settings, true, nil
}

// run runs git on the copy of a repository. Git gets no settings other than the given ones, which
// are alternating names and values, and always.
func (g git) run(ctx context.Context, repo *repository, dir string, settings []string, input []byte, args ...string) (process.Output, error) {
	settings = slices.Concat(settings, always)
	env := process.Environ(process.DefaultEnv,
		"GIT_DIR="+dir, "GIT_WORK_TREE="+repo.tree, "GIT_OBJECT_DIRECTORY="+filepath.Join(repo.place, "objects"),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "LC_ALL=C",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)/2),
	)
	for i := 0; i+1 < len(settings); i += 2 {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, settings[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, settings[i+1]))
	}
	return process.Program{Path: g.program, Args: append([]string{"--no-pager"}, args...), Dir: g.dir, Env: env, Input: input}.Run(ctx)
}
