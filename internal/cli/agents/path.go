package agents

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// moved is a variable that moves an agent's files out of their default directory in the home.
type moved struct {
	variable string
	from     string // the directory that the variable replaces; empty means the home itself
}

// path returns the configuration file of a scope.
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

// configuration returns the file of a scope that has the hooks, or would get them, and the target
// with that file's format.
func (t target) configuration(scope string, getenv func(string) string) (target, string, error) {
	path, err := t.path(scope, getenv)
	if err != nil {
		return t, "", err
	}
	t, path = t.chosen(path)
	return t, path, nil
}

// root returns the directory below which connect creates directories for a configuration: the home,
// the project, or the directory that a variable names.
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
