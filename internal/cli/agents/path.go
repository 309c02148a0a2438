package agents

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// moved is a variable by which a person moves what an agent keeps below their home.
type moved struct {
	variable string
	from     string // the directory that it stands for; empty for the home itself
}

// path is the configuration file of a scope.
func (t target) path(scope string, getenv func(string) string) (string, error) {
	below, ok := t.paths[scope]
	home, by := getenv("HOME"), t.moved
	switch {
	case !ok:
		return "", fmt.Errorf("%s has no hooks of the scope %s that hookctl can write", t.dialect, scope)
	case scope == project:
		return filepath.Abs(below)
	case scope == managed && runtime.GOOS != "linux":
		return "", fmt.Errorf("hookctl knows the managed settings of %s on Linux only", t.dialect)
	case scope == managed:
		return "/" + below, nil
	case by.variable != "" && getenv(by.variable) != "":
		return filepath.Abs(filepath.Join(getenv(by.variable), strings.TrimPrefix(below, by.from)))
	case home == "":
		return "", fmt.Errorf("find the settings of %s: HOME is not set", t.dialect)
	}
	return filepath.Join(home, below), nil
}

// configuration is the file of a scope that has, or is to have, the hooks, and its form.
func (t target) configuration(scope string, getenv func(string) string) (target, string, error) {
	path, err := t.path(scope, getenv)
	if err != nil {
		return t, "", err
	}
	t, path = t.chosen(path)
	return t, path, nil
}

// root is the directory below which connect makes directories for a configuration: the home, the
// project, or the one that a variable names.
func (t target) root(path string) string {
	dir := filepath.ToSlash(filepath.Dir(path))
	root := dir
	for _, file := range t.paths {
		below := filepath.ToSlash(filepath.Dir(file))
		for _, part := range []string{below, strings.Trim(strings.TrimPrefix(below, t.moved.from), "/")} {
			if above, ok := strings.CutSuffix(dir, "/"+part); ok && len(above) < len(root) {
				root = above
			}
		}
	}
	return filepath.FromSlash(root)
}
