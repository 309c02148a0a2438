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

// cannotRead is git's exit code where it can't make sense of a repository.
const cannotRead = 128

// harmless are the settings of a repository that git gets: those about the files' form, and
// which branch follows which.
var harmless = regexp.MustCompile(`^(core\.(filemode|ignorecase|symlinks|autocrlf|eol|precomposeunicode|trustctime|checkstat)|branch\..*\.(remote|merge)|remote\..*\.fetch)$`)

// unreadable are those without which git would misread the repository.
var unreadable = regexp.MustCompile(`^extensions\.(objectformat|refstorage)$`)

// always are the settings that make git's output as it is read here.
var always = []string{"core.quotePath", "true", "status.showStash", "false", "color.ui", "false", "color.status", "false"}

// git is the program, and the directory that it looks at. With only, it tells of files in that
// directory, else of all in its repository.
type git struct {
	program, dir string
	only         bool
}

// status returns what git status says in short: the branch, and a line for each file
// that changed; "" where there is no repository that it can read.
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

// private makes a directory for copies, where the user keeps caches if there is such a place:
// agents in a sandbox often may write to the one for temporary files.
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

// settings are the harmless ones of a repository, names and values in turn, and whether git can
// read it with them.
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
		default: // a name alone is true
			settings = append(settings, name, "true")
		}
	}
	return settings, true, nil
}

// run runs git on the copy of a repository, with settings, names and values in turn, and no others.
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
