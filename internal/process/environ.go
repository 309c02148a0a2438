package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultEnv are the variables that a program sees where nobody lists others. They are
// names, not values.
var DefaultEnv = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Environ is an environment of this process's variables of the given names, as far as
// they are set, and more, each NAME=value. PATH is without its relative directories.
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

// searchPath is a PATH without its relative directories. A program runs where it has something to
// look at, such as an agent's files: what they have in the place of another program must not run.
func searchPath(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}
