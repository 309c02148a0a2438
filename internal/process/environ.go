package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultEnv are the names of the variables that a program gets by default.
var DefaultEnv = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Environ returns an environment with the variables of this process with the given names, if they
// are set, and more, each as NAME=value. It removes relative directories from PATH.
func Environ(names []string, more ...string) []string {
	env := make([]string, 0, len(names)+len(more)+8)
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			if name == "PATH" {
				value = searchPath(value)
			}
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

// searchPath returns a PATH without its relative directories. Programs often run in a directory
// with an agent's files, whose programs must not be found.
func searchPath(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}
