package process

import "os"

// DefaultEnv are the variables that a program sees where nobody lists others. They are
// names, not values.
var DefaultEnv = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

// Environ is an environment of this process's variables of the given names, as far as
// they are set, and more, each NAME=value.
func Environ(names []string, more ...string) []string {
	env := make([]string, 0, len(names)+len(more)+8)
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}
